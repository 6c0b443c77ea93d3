/** What goroutines and channels cost, as `programs/go/worker-costs.go` measures them. */
import { execFileSync } from "node:child_process";
import type { RoundSamples } from "../harness/child.ts";
import type { RoundGap, Unit } from "../harness/schema.ts";
import { commandOf, languageOf, whyMissing } from "../programs/languages.ts";
import * as programs from "./programs-cases.ts";

interface Place {
  readonly contender: string;
  readonly case: string;
  readonly size: number;
  readonly unit: Unit;
}

/** By the names that the program prints. */
const PLACES: Readonly<Record<string, Place>> = {
  "start": { contender: programs.GOROUTINE, case: programs.WORKER_START, size: 1, unit: "µs" },
  "memory": {
    contender: programs.GOROUTINE,
    case: programs.WORKER_MEMORY,
    size: 10_000,
    unit: "MiB",
  },
  "round-trip": {
    contender: programs.BUFFERED_CHANNEL,
    case: programs.ROUND_TRIP,
    size: programs.IN_FLIGHT,
    unit: "ns",
  },
  "buffered": {
    contender: programs.BUFFERED_CHANNEL,
    case: programs.ONE_WAY,
    size: programs.IN_FLIGHT,
    unit: "ns",
  },
  "unbuffered": {
    contender: programs.UNBUFFERED_CHANNEL,
    case: programs.ONE_WAY,
    size: programs.IN_FLIGHT,
    unit: "ns",
  },
};

export function measureGoroutines(isQuick: boolean): (RoundSamples | RoundGap)[] {
  const go = languageOf("Go");
  const missing = whyMissing(go);
  if (missing !== undefined) {
    return Object.values(PLACES).map(({ contender, case: name, size }) => ({
      contender,
      case: name,
      size,
      reason: missing,
      isSkipped: true,
    }));
  }
  const [file = "", ...args] = commandOf(go, "worker-costs");
  const text = execFileSync(file, [...args, isQuick ? "10" : "200"], { encoding: "utf8" });
  return text.trim().split("\n").map((line) => {
    const [name = "", ...samples] = line.split(" ");
    return { ...PLACES[name]!, samples: samples.map(Number) };
  });
}
