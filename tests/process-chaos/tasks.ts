/** Tasks that note in a file that they have begun, however their process ends. */
import { openSync, writeSync } from "node:fs";
import process from "node:process";

const log = openSync(process.env["HEDDLE_TEST_LOG"]!, "a");

/** Appended at once, or not at all. */
function begin(call: number): void {
  writeSync(log, new Uint8Array(Float64Array.of(call).buffer));
}

export function run(call: number, value: unknown): unknown {
  begin(call);
  return value;
}

export async function runLater(call: number, value: unknown): Promise<unknown> {
  begin(call);
  await new Promise((resolve) => setTimeout(resolve, 1));
  return value;
}

export function end(call: number, how: string): void {
  begin(call);
  if (how === "exit") process.exit(3);
  if (how === "abort") process.abort();
  process.kill(process.pid, how);
}

export const pid = (): number => process.pid;
