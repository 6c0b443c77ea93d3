/** A model, and what gathers its inputs. Both live in workers. */
import type { Remote } from "heddle";

const SIZE = 64;

export class Model {
  readonly classes: readonly string[];
  #weights = new Float64Array(0);
  #runs = 0;

  constructor(classes: readonly string[]) {
    this.classes = classes;
  }

  /** Loads the weights, and runs once so that the first request finds compiled code. */
  async open(): Promise<void> {
    const length = SIZE * this.classes.length;
    this.#weights = await Promise.resolve(
      Float64Array.from({ length }, (_, n) => Math.sin(n * 12.9898) * 0.5),
    );
    this.classify([new Float64Array(SIZE)]);
    this.#runs = 0;
  }

  /** The class of each input. */
  classify(batch: readonly Float64Array[]): string[] {
    this.#runs++;
    return batch.map((input) => {
      const scores = this.classes.map((_, row) =>
        input.reduce((sum, x, column) => sum + x * this.#weights[row * SIZE + column]!, 0)
      );
      return this.classes[scores.indexOf(Math.max(...scores))]!;
    });
  }

  runs(): number {
    return this.#runs;
  }
}

interface Waiting {
  readonly input: Float64Array;
  readonly resolve: (name: string) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher {
  readonly #models: readonly Remote<Model>[];
  #waiting: Waiting[] = [];
  #next = 0;

  constructor(models: readonly Remote<Model>[]) {
    this.#models = models;
  }

  classify(input: Float64Array): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ input, resolve, reject }) === 1) setTimeout(() => this.#run(), 2);
    });
  }

  async #run(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    const model = this.#models[this.#next++ % this.#models.length]!;
    try {
      const names = await model.classify(waiting.map(({ input }) => input));
      for (const [index, { resolve }] of waiting.entries()) resolve(names[index]!);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
