import { createReadStream } from "node:fs";

export interface Sale {
  readonly city: string;
  readonly amount: number;
}

/** The rows of a CSV file. The host has the first ones while the file is still being read. */
export async function* sales(path: string): AsyncGenerator<Sale, number> {
  let count = 0;
  let rest = "";
  for await (const text of createReadStream(path, "utf8") as AsyncIterable<string>) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (count++ > 0) yield parse(line); // the first line has the names of the columns
    }
  }
  return count - 1;
}

function parse(line: string): Sale {
  const [city = "", amount] = line.split(",");
  return { city, amount: Number(amount) };
}
