/** What `bench:ab` measures, by the names that `--only` takes. */
import { KINDS } from "../payloads/kinds.ts";
import type { PayloadKind } from "../payloads/payload.ts";

/** Calls made at once, each answered with the value of its `kind`. */
interface EchoCase {
  readonly name: string;
  readonly task: "echo" | "add";
  readonly kind: PayloadKind;
  readonly batches: readonly number[];
}

/** A task that computes for some time. */
interface LatenessCase {
  readonly name: string;
  readonly task: "spin";
  /** Length of the task, microseconds. */
  readonly us: number;
  readonly samples: number;
  readonly quickSamples: number;
}

/** The first calls of a process that has just started: several processes for each round. */
interface ColdCase {
  readonly name: "cold";
  readonly task: "cold";
}

/** One call at a time, at a steady pace. */
interface SporadicCase {
  readonly name: string;
  readonly task: "sporadic";
  /** Microseconds between two calls. */
  readonly gapUs: number;
  readonly samples: number;
  readonly quickSamples: number;
}

export type Case = EchoCase | LatenessCase | ColdCase | SporadicCase;

/** Those of a process of their own. */
export const COLD = "cold";
/** One process of them is little to go by. */
export const COLD_PROCESSES = 3;

function echoOf(kind: string): Pick<EchoCase, "task" | "kind"> {
  return { task: "echo", kind: KINDS.find(({ name }) => name === kind)! };
}

const SUM: PayloadKind = {
  name: "add(1, 2)",
  family: "scalar",
  route: "copy",
  fitsJson: true,
  create: () => 3,
};

export const CASES: readonly Case[] = [
  { name: "f64", ...echoOf("number"), batches: [1, 100, 1000] },
  { name: "add", task: "add", kind: SUM, batches: [1, 100] },
  { name: "string", ...echoOf("string, 16 ASCII"), batches: [1, 100] },
  { name: "object", ...echoOf("object, 200 B"), batches: [1, 100] },
  { name: "bytes", ...echoOf("Uint8Array, 1 KiB"), batches: [1, 100] },
  { name: "lateness", task: "spin", us: 200, samples: 500, quickSamples: 100 },
  { name: "lateness", task: "spin", us: 20_000, samples: 25, quickSamples: 5 },
  { name: "sporadic", task: "sporadic", gapUs: 1000, samples: 400, quickSamples: 100 },
  { name: "sporadic", task: "sporadic", gapUs: 3000, samples: 200, quickSamples: 50 },
  { name: COLD, task: "cold" },
];
