/**
 * Writes values of a declared shape into shared memory and reads them back, by code made for the shape.
 *
 * It knows no transport: the caller gives the memory and grows it. Writing runs the value's own getters
 * (each once) and nothing else of the value's, unless it is a proxy; so a caller must bear that code
 * runs, and that it throws, while its memory is open. Reading checks every length against the end of
 * what it was given.
 */
import { align8 } from "../../memory/align.ts";
import type { Memory } from "../../memory/views.ts";
import type { TextAccess } from "../../runtimes/runtime.ts";
import { InvalidArgumentError } from "../../errors.ts";
import { oncePerShape, type PlanMode, planOf } from "./build-plan.ts";
import type { Field, Infer, InferView } from "./field-types.ts";
import { corrupt, Input, Source, type Viewer } from "./input.ts";
import type { Plan } from "./interpret.ts";
import { describeValue } from "./mismatch.ts";
import type { Output } from "./output.ts";
import { shapeOf } from "./schema.ts";
import { countTailTexts, describeShape, type StructShape } from "./shape.ts";
import { MIN_TEXTS, TextWindow } from "./text-window.ts";
import { viewerOf } from "./views.ts";

export class StructCodec<Value, View> {
  /** Bytes of the fixed part, a multiple of 8: what a value takes at least. */
  readonly fixedBytes: number;
  /** Whether every value takes exactly `fixedBytes`. */
  readonly isFixed: boolean;
  /** After `read`: where the value ends, a multiple of 8. */
  end = 0;

  readonly #shape: StructShape;
  readonly #mode: PlanMode;
  readonly #plan: Plan;
  #viewer: Viewer | undefined;
  /** Whether there are enough strings in the tail for reading them together. */
  readonly #hasTexts: boolean;

  constructor(shape: StructShape, mode: PlanMode) {
    this.fixedBytes = align8(shape.size);
    this.isFixed = !shape.isDeep;
    this.#shape = shape;
    this.#mode = mode;
    this.#hasTexts = countTailTexts(shape) >= MIN_TEXTS;
    this.#plan = planOf(shape, mode);
  }

  /** The shape in words: equal for equal layouts and keys alone. */
  describe(): string {
    return describeShape(this.#shape);
  }

  /**
   * Writes `value` at `at` (8-aligned); returns where it ends. Throws a Mismatch, which `located` makes
   * an error of, for a value that does not fit, and whatever `room` of the writer or a getter throws;
   * what has been written by then is of no use.
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

  /** The same for a shape that `isFixed`, of which `input` has all `fixedBytes` at `at`. */
  readFixed(input: Input, at: number): Value {
    return this.#plan.read(input, at) as Value;
  }

  /**
   * Looks at the value at `at` without copying it. The memory must stay as it is until the view is
   * revoked. Damage is found when what is damaged is looked at.
   */
  view(memory: Memory, text: TextAccess, at: number, limit: number): View {
    const end = this.#endOfFixedPart(memory, at, limit);
    this.#viewer ??= viewerOf(this.#shape, this.#mode);
    return this.#viewer(new Source(memory, text, limit, end), at) as View;
  }

  #endOfFixedPart(memory: Memory, at: number, limit: number): number {
    const end = at + this.fixedBytes;
    if (!(at >= 0 && end <= limit && limit <= memory.u8.length) || (at & 7) !== 0) {
      throw corrupt(`record, ${this.fixedBytes} bytes before ${limit}`, at);
    }
    return end;
  }
}

const codecOfShape = oncePerShape((shape: StructShape, mode) =>
  new StructCodec<unknown, unknown>(shape, mode)
);

/**
 * The codec of a schema: made when first asked for, then the same one each time. Keep it where calls
 * are frequent. `mode` is for tests; code is interpreted anyway where it cannot be made from strings.
 */
export function codecOf<F extends Field & { readonly kind: "struct" }>(
  schema: F,
  mode: PlanMode = "compiled",
): StructCodec<Infer<F>, InferView<F>> {
  const shape = shapeOf(schema);
  if (shape?.kind !== "struct") {
    throw new InvalidArgumentError(`A struct() is needed, got ${describeValue(schema)}.`);
  }
  return codecOfShape(shape, mode) as StructCodec<Infer<F>, InferView<F>>;
}
