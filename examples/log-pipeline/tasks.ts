import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Receiver, Sender } from "heddle/shared";

export interface Entry {
  readonly method: string;
  readonly status: number;
}

// `finally`: a stage that fails ends the channels, so that no other stage waits for it.

/** Sends the lines of a file; returns their number. */
export async function read(path: string, lines: Sender<string>): Promise<number> {
  let count = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path) })) {
      await lines.send(line);
      count++;
    }
  } finally {
    lines.close();
  }
  return count;
}

/** Sends an entry for each line; returns their number. */
export async function parse(lines: Receiver<string>, entries: Sender<Entry>): Promise<number> {
  let count = 0;
  try {
    for await (const line of lines) {
      const [method = "", , status] = line.split(" ");
      await entries.send({ method, status: Number(status) });
      count++;
    }
  } finally {
    lines.close();
    entries.close();
  }
  return count;
}

/** Counts the entries of each method and status. */
export async function count(entries: Receiver<Entry>): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  try {
    for await (const { method, status } of entries) {
      const key = `${method} ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  } finally {
    entries.close();
  }
  return counts;
}
