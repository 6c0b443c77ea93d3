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

export const CASES: readonly (EchoCase | LatenessCase)[] = [
  { name: "f64", ...echoOf("number"), batches: [1, 100, 1000] },
  { name: "add", task: "add", kind: SUM, batches: [1, 100] },
  { name: "string", ...echoOf("string, 16 ASCII"), batches: [1, 100] },
  { name: "object", ...echoOf("object, 200 B"), batches: [1, 100] },
  { name: "bytes", ...echoOf("Uint8Array, 1 KiB"), batches: [1, 100] },
  { name: "lateness", task: "spin", us: 200, samples: 500, quickSamples: 100 },
  { name: "lateness", task: "spin", us: 20_000, samples: 25, quickSamples: 5 },
];
