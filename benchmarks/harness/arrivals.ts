/** Work that arrives from outside, at a pace of its own: the reading end of `metronome.ts`. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { NODE } from "./processes.ts";

const METRONOME = fileURLToPath(new URL("./metronome.ts", import.meta.url));

export interface Pace {
  /** Mean time between two arrivals. */
  readonly gapUs: number;
  /** Arrivals at random: gaps are exponential. */
  readonly isPoisson: boolean;
  readonly count: number;
}

/** Calls `arrive` for each arrival with the time at which it was sent, by the sender's clock, milliseconds. */
export function receiveArrivals(
  { gapUs, isPoisson, count }: Pace,
  arrive: (sentMs: number) => void,
): Promise<void> {
  const args = [METRONOME, String(gapUs), String(count), isPoisson ? "1" : "0"];
  const metronome = spawn(NODE, args, { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve, reject) => {
    metronome.on("error", reject);
    metronome.stdout.on("data", (chunk: Uint8Array) => {
      const { buffer, byteOffset, byteLength } = chunk;
      const view = new DataView(buffer, byteOffset, byteLength);
      // Records are written whole.
      for (let at = 0; at < byteLength; at += Float64Array.BYTES_PER_ELEMENT) {
        arrive(view.getFloat64(at, true));
      }
    });
    metronome.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the metronome ended with code ${code}`));
    });
  });
}
