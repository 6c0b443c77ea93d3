/** Compile-time assertions: what a task with schemas takes and returns. Checked by `npm run typecheck`. */
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { createPool, type ResultStream, task } from "../../src/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}

const Kind = z.object({
  kind: z.enum(["a", "b"]),
  at: z.string().transform((text) => new Date(text)),
});
const Result = z.object({ text: z.string().transform((text) => text.length) });

const both = task({
  input: Kind,
  output: Result,
  f: (value) => {
    assert<Equal<typeof value, { kind: "a" | "b"; at: Date }>>();
    return { text: value.kind };
  },
});
const inputOnly = task({
  input: v.pipe(v.string(), v.transform(Number)),
  timeoutMs: 100,
  f: async (n) => {
    assert<Equal<typeof n, number>>();
    return await Promise.resolve([n]);
  },
});
const outputOnly = task({
  output: type({ sum: "number" }),
  f: (a: number, b: number) => ({ sum: a + b }),
});
const outputWithSignal = task({
  output: z.number(),
  abortSignal: true,
  f: (a: number, signal: AbortSignal) => signal.aborted ? 0 : a,
});
const withSignal = task({
  input: type("number"),
  abortSignal: true,
  f: (n, signal) => {
    assert<Equal<typeof signal, AbortSignal>>();
    return n;
  },
});
const stream = task({
  input: z.number(),
  output: z.string().transform((text) => text.length),
  async *f(n) {
    yield await Promise.resolve(String(n));
    return true;
  },
});
/** TypeScript infers the type of `f` before that of its schema, so literals need `as const`. */
const literal = task({
  input: z.number(),
  output: z.object({ kind: z.literal("done") }),
  f: () => ({ kind: "done" as const }),
});

const pool = createPool()({
  both,
  inputOnly,
  outputOnly,
  outputWithSignal,
  withSignal,
  stream,
  literal,
});

assert<Equal<Parameters<typeof pool.call.withSignal>[0], number | Promise<number>>>();
async function calls(): Promise<void> {
  const length = await pool.call.both({ kind: "a", at: "2026-01-01" });
  assert<Equal<typeof length, { text: number }>>();
  const list = await pool.call.inputOnly("1");
  assert<Equal<typeof list, number[]>>();
  const sum = await pool.call.outputOnly(1, 2);
  assert<Equal<typeof sum, { sum: number }>>();
  const n = await pool.call.outputWithSignal(1);
  assert<Equal<typeof n, number>>();
  const items = pool.call.stream(1);
  assert<Equal<typeof items, ResultStream<number, boolean>>>();
  const done = await pool.call.literal(1);
  assert<Equal<typeof done, { kind: "done" }>>();

  // @ts-expect-error -- callers pass what the schema takes
  await pool.call.both({ kind: "a", at: new Date() });
  // @ts-expect-error -- "c" is no kind
  await pool.call.both({ kind: "c", at: "" });
  // @ts-expect-error -- the input is one argument
  await pool.call.inputOnly("1", 2);
  // @ts-expect-error -- the signal is not an argument of callers
  await pool.call.withSignal(1, new AbortController().signal);
}
void calls;

// @ts-expect-error -- the result does not fit its schema
task({ input: z.number(), output: z.number(), f: (n) => String(n) });
// @ts-expect-error -- nor this one
task({ output: z.number(), f: () => "text" });
const texts = function* (): Generator<string> {
  yield "text";
};
// @ts-expect-error -- nor these items
task({ input: z.number(), output: z.number(), f: texts });
// @ts-expect-error -- nor these
task({ output: z.number(), f: texts });
// @ts-expect-error -- the function takes something else than its schema makes
task({ input: z.number(), f: (text: string) => text });
// @ts-expect-error -- no such place
task({ input: z.number(), validateOn: "client", f: (n) => n });
// @ts-expect-error -- only the input can be checked on the host
task({ output: z.number(), validateOn: "host", f: (n: number) => n });

async function generators(): Promise<void> {
  const pool = createPool()({ texts: task({ output: z.string(), f: texts }) });
  for await (const item of pool.call.texts()) assert<Equal<typeof item, string>>();
}
void generators;
