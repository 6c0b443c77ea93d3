/**
 * `tokio`: one caller, one worker. How long until 1, 10 or 100 calls made at once are answered, with what
 * `benchmarks/tokio` sends too: an f64, and strings and bytes of 8 B to 1 MiB, copied both ways.
 *
 * Beside it: the same memory moved by `transfer()`, and what two fresh copies of it cost the
 * runtime in one thread, with nothing sent.
 */
import { heddleEcho, heddleTransfer } from "../contenders/heddle.ts";
import type { EchoContender } from "../contenders/types.ts";
import { chooseContender, readArguments } from "../harness/child.ts";
import { byteArray } from "../payloads/bytes.ts";
import { type PayloadKind, type Route, VARIANTS } from "../payloads/payload.ts";
import { asciiText } from "../payloads/text.ts";
import { runEchoes } from "./echo-round.ts";
import type { EchoRun } from "./echo.ts";

const KIB = 1024;
const SIZES = [8, 64, KIB, 16 * KIB, 128 * KIB, 512 * KIB, 1024 * KIB] as const;
const QUICK_SIZES = [8, KIB, 16 * KIB, 512 * KIB] as const;
const BATCHES = [1, 10, 100] as const;
const F64_BYTES = 8;

/** Up to this size, several calls one after the other make a sample: the clock is too coarse for one. */
const MAX_COARSE_BYTES = 16 * KIB;
const SEQUENTIAL_CALLS = 100;
/** The values to cycle through take this much memory at most. */
const MAX_VARIANT_BYTES = 32 * KIB * KIB;

/** No worker: what a fresh copy costs, there and back. */
const COPIES: EchoContender = {
  name: "copies alone",
  refuses: ({ family, route }) =>
    family === "bytes" && route === "copy" ? undefined : "only bytes are copied by hand",
  start: () =>
    Promise.resolve({
      echo: (value) => Promise.resolve((value as Uint8Array).slice().slice()),
      close: () => Promise.resolve(),
    }),
};

function kindOf(name: string, size: number, route: Route): PayloadKind {
  switch (name) {
    case "f64":
      return { name, family: "scalar", route, fitsJson: true, create: (n) => n + 0.5 };
    case "string":
      return { name, family: "text", route, fitsJson: true, create: (n) => asciiText(size, n) };
    default: {
      const create = route === "move"
        ? (n: number) => byteArray(size, n).buffer
        : (n: number) => byteArray(size, n);
      return { name, family: "bytes", route, fitsJson: false, create };
    }
  }
}

function runsOf(name: string, size: number, route: Route): EchoRun[] {
  return BATCHES.map((batch) => ({
    case: `${name}, ${batch === 1 ? "1 call" : `${batch} calls`}`,
    size,
    kind: kindOf(name, size, route),
    batch,
    sequentialCalls: size <= MAX_COARSE_BYTES ? SEQUENTIAL_CALLS : 1,
    variants: Math.max(2, Math.min(VARIANTS, MAX_VARIANT_BYTES / size)),
  }));
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(): Promise<never> {
  const { contender: name, isQuick } = readArguments();
  const contender = chooseContender([heddleEcho, heddleTransfer, COPIES], name);
  const sizes = isQuick ? QUICK_SIZES : SIZES;
  const bytes = sizes.flatMap((size) =>
    runsOf("bytes", size, contender === heddleTransfer ? "move" : "copy")
  );
  const others = [
    ...runsOf("f64", F64_BYTES, "copy"),
    ...sizes.flatMap((size) => runsOf("string", size, "copy")),
  ];
  return await runEchoes(
    contender,
    contender === heddleEcho ? [...others, ...bytes] : bytes,
    isQuick ? { seconds: 0.01, minSamples: 2 } : { seconds: 0.2, minSamples: 5 },
  );
}
