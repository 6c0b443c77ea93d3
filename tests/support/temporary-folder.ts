/** A folder that the end of the test removes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "heddle-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}
