/** The calls of a program that has just started, and what they send. */
import type { Echo } from "../contenders/types.ts";
import { byteArray } from "../payloads/bytes.ts";
import { user } from "../payloads/objects.ts";
import { MANY_VARIANTS, VARIANTS } from "../payloads/payload.ts";
import { assertSame } from "../payloads/same.ts";
import { asciiText } from "../payloads/text.ts";
import type { ColdKind } from "./cold-cases.ts";

export const AT_ONCE = 20;

interface Kind {
  readonly variants: number;
  create(variant: number): unknown;
}

/** As many variants as in the other scenarios, so that nobody wins by remembering the last ones. */
const KINDS: Readonly<Record<ColdKind, Kind>> = {
  "number": { variants: MANY_VARIANTS, create: (variant) => variant + 0.5 },
  "string, 16 B": { variants: MANY_VARIANTS, create: (variant) => asciiText(16, variant) },
  "object, 200 B": { variants: MANY_VARIANTS, create: user },
  "bytes, 1 KiB": { variants: VARIANTS, create: (variant) => byteArray(1024, variant) },
};

export function createValues(kind: ColdKind): unknown[] {
  const { variants, create } = KINDS[kind];
  return Array.from({ length: variants }, (_, number) => create(number));
}

/** Calls with one value after the other. */
export class ColdCalls {
  readonly #echo: Echo;
  readonly #values: readonly unknown[];
  /** The last of the answers, by number of the call. */
  readonly #answers = new Map<number, unknown>();
  #next = 0;

  constructor(echo: Echo, values: readonly unknown[]) {
    this.#echo = echo;
    this.#values = values;
  }

  async one(): Promise<void> {
    const number = this.#next++;
    this.#answers.set(number, await this.#echo(this.#valueOf(number)));
  }

  /** `count` calls, some at once, and the next ones when all of those are answered. */
  async many(count: number): Promise<void> {
    for (let left = count; left > 0; left -= AT_ONCE) {
      const first = this.#next;
      this.#next += AT_ONCE;
      const pending = new Array<Promise<unknown>>(AT_ONCE);
      for (let n = 0; n < AT_ONCE; n++) pending[n] = this.#echo(this.#valueOf(first + n));
      const answers = await Promise.all(pending);
      if (left === AT_ONCE) answers.forEach((answer, n) => this.#answers.set(first + n, answer));
    }
  }

  /** Throws if an answer that was kept is wrong. */
  check(): void {
    for (const [number, answer] of this.#answers) assertSame(this.#valueOf(number), answer);
  }

  #valueOf(number: number): unknown {
    return this.#values[number % this.#values.length];
  }
}

/** Milliseconds that `work` takes, and its result. */
export async function time<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedMs = performance.now();
  const result = await work();
  return [result, performance.now() - startedMs];
}
