/**
 * Writes values of a declared shape into shared memory and reads them back, by code generated for the shape.
 *
 * It is independent of the transport: the caller provides the memory and grows it. Writing runs the value's
 * getters (each once) and no other user code, except for proxies. So the caller must expect that user code
 * runs, and may throw, during a write. Reading checks every length against the end of the input.
 */
import { align8 } from "../../../../memory/align.ts";
import type { Memory } from "../../../../memory/views.ts";
import type { TextAccess } from "../../../../runtimes/runtime.ts";
import { recognizeViews } from "../../../../codec/support/struct-views.ts";
import { corrupt, Input, Source, type Viewer } from "../schema/input.ts";
import { located } from "./mismatch.ts";
import { Output, type StructWriter } from "../schema/output.ts";
import { isStructView, revokeView } from "./views/record-view.ts";
import type { Plan } from "./compile.ts";
import { planOf } from "./plan.ts";
import { countTailTexts, describeShape, type StructShape } from "../schema/shape.ts";
import { MIN_TEXTS, TextWindow } from "./text-window.ts";
import { viewerOf } from "./views/views.ts";

export class StructCodec<Value, View> {
  /** Bytes of the fixed part, a multiple of 8: the minimum size of a value. */
  readonly fixedBytes: number;
  /** Whether every value takes exactly `fixedBytes`. */
  readonly isFixed: boolean;
  /** After `read`: end of the value, a multiple of 8. */
  end = 0;

  readonly #shape: StructShape;
  readonly #plan: Plan;
  #viewer: Viewer | undefined;
  /** Whether the tail can have enough strings to read them together. */
  readonly #hasTexts: boolean;

  constructor(shape: StructShape) {
    this.fixedBytes = align8(shape.size);
    this.isFixed = !shape.isDeep;
    this.#shape = shape;
    this.#hasTexts = countTailTexts(shape) >= MIN_TEXTS;
    this.#plan = planOf(shape);
  }

  /** A description of the shape: equal if and only if layout and keys are equal. */
  describe(): string {
    return describeShape(this.#shape);
  }

  /**
   * Writes `value` at `at` (8-aligned); returns its end. Throws a Mismatch for a value that does not fit
   * (`located` converts it to an error), and rethrows errors of getters and of the writer's `room`. After an
   * exception the written bytes are undefined.
   */
  write(out: Output, at: number, value: unknown): number {
    out.begin(at, this.fixedBytes);
    this.#plan.write(out, 0, value);
    return out.base + out.end;
  }

  /** Reads the value at `at`, of a record that ends at `limit` (both 8-aligned); sets `end`. */
  read(memory: Memory, text: TextAccess, at: number, limit: number): Value {
    const end = this.#endOfFixedPart(memory, at, limit);
    const window = this.#hasTexts ? new TextWindow() : undefined;
    const input = new Input(memory, text, limit, end, window);
    const value = this.#plan.read(input, at) as Value;
    this.end = input.end;
    return value;
  }

  /** The same for a shape with `isFixed`. `input` must have all `fixedBytes` at `at`. */
  readFixed(input: Input, at: number): Value {
    return this.#plan.read(input, at) as Value;
  }

  /**
   * Creates a view of the value at `at` without copying it. The memory must stay unchanged until the view is
   * revoked. Damage is detected when the damaged part is read.
   */
  view(memory: Memory, text: TextAccess, at: number, limit: number): View {
    const end = this.#endOfFixedPart(memory, at, limit);
    if (this.#viewer === undefined) {
      recognizeViews(isStructView);
      this.#viewer = viewerOf(this.#shape);
    }
    return this.#viewer(new Source(memory, text, limit, end), at) as View;
  }

  // Encoder and decoder have no code for structs of their own.

  /** The destination for `write`, for any number of values and codecs. */
  createOutput(writer: StructWriter): Output {
    return new Output(writer);
  }

  /** The source for `readFixed`. */
  createInput(memory: Memory, text: TextAccess, limit: number): Input {
    return new Input(memory, text, limit, limit);
  }

  /** The public error for what `write` threw, with the value called `path`. */
  located(error: unknown, path: string): unknown {
    return located(error, path);
  }

  /** Ends a view. */
  revoke(view: object): void {
    revokeView(view);
  }

  #endOfFixedPart(memory: Memory, at: number, limit: number): number {
    const end = at + this.fixedBytes;
    if (!(at >= 0 && end <= limit && limit <= memory.u8.length) || (at & 7) !== 0) {
      throw corrupt(`record, ${this.fixedBytes} bytes before ${limit}`, at);
    }
    return end;
  }
}
