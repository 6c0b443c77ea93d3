import { type FileRange, readLines } from "heddle/files";

export type Totals = Map<string, number>;

/** Adds the amount of a line `city,day,amount` to the total of its city. */
function add(totals: Totals, line: string): void {
  const [city = "", , amount] = line.split(",");
  totals.set(city, (totals.get(city) ?? 0) + Number(amount));
}

/** The totals of a part of the file. */
export function sumRange(range: FileRange): Totals {
  const totals: Totals = new Map();
  let isHeader = range.start === 0;
  for (const line of readLines(range)) {
    if (isHeader) isHeader = false;
    else add(totals, line);
  }
  return totals;
}

/** The same of lines that someone else reads. */
export async function sumLines(lines: AsyncIterable<string>): Promise<Totals> {
  const totals: Totals = new Map();
  let isHeader = true;
  for await (const line of lines) {
    if (isHeader) isHeader = false;
    else add(totals, line);
  }
  return totals;
}
