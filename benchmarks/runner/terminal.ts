/** Lines on standard error, and on a terminal one line at the bottom that changes. */
import process from "node:process";

const { stderr } = process;
export const isTerminal: boolean = stderr.isTTY === true;

const CLEAR = "\r\x1b[2K";
let status = "";

/** Writes a line above the changing one. */
export function log(text: string): void {
  stderr.write(status === "" ? `${text}\n` : `${CLEAR}${text}\n${status}`);
}

/** Replaces the changing line; the empty text removes it. Writes nothing where there is no terminal. */
export function showStatus(text: string): void {
  if (!isTerminal) return;
  status = text.slice(0, (stderr.columns || 80) - 1);
  stderr.write(`${CLEAR}${status}`);
}
