/** The runtimes that are measured, as the dev dependencies install them. */
import { fileURLToPath } from "node:url";
import { versionOf } from "../harness/machine.ts";

export interface MeasuredRuntime {
  /** What runs a module whose path follows. */
  readonly command: readonly string[];
  readonly version: string;
}

const bin = (name: string): string =>
  fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));

export const RUNTIMES: Readonly<Record<string, MeasuredRuntime>> = {
  node: { command: [bin("node")], version: process.version.slice(1) },
  deno: { command: [bin("deno"), "run", "-A", "--quiet"], version: versionOf("deno") },
  bun: { command: [bin("bun")], version: versionOf("bun") },
};

/** Node starts and times pages of Chromium, and programs in other languages. */
export function startedOn(runtime: string): MeasuredRuntime {
  const { node } = RUNTIMES as { node: MeasuredRuntime };
  if (runtime === "browser") return { ...node, version: versionOf("@sparticuz/chromium") };
  return RUNTIMES[runtime] ?? node;
}
