/** Small functions that synckit exports. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { IMPORT_FLAG, LOADER_FLAGS, REQUIRE_FLAGS } from "./constants.ts";
import type { StdioChunk } from "./types.ts";

/** Whether a path is that of a file. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

/** A module as a URL. */
export const dataUrl = (code: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(code)}`);

export const md5Hash = (text: string): string => createHash("md5").update(text).digest("hex");

/** A copy of what an object and its prototypes can be asked for by name. */
export function extractProperties(object?: unknown): object | undefined {
  if (!object || typeof object !== "object") return undefined;
  const properties: Record<string, unknown> = {};
  for (const key in object) properties[key] = (object as Record<string, unknown>)[key];
  return properties;
}

export const hasRequireFlag = (execArgv: string[]): boolean =>
  execArgv.some((flag) => REQUIRE_FLAGS.has(flag));
export const hasImportFlag = (execArgv: string[]): boolean => execArgv.includes(IMPORT_FLAG);
export const hasLoaderFlag = (execArgv: string[]): boolean =>
  execArgv.some((flag) => LOADER_FLAGS.has(flag));

type Writev = (
  chunks: readonly Pick<StdioChunk, "chunk" | "encoding">[],
  callback: (error?: Error | null) => void,
) => void;

/** Collects what this thread writes to its streams. */
export function overrideStdio(stdio: StdioChunk[]): void {
  for (const type of ["stdout", "stderr"] as const) {
    const stream = process[type] as unknown as { _writev: Writev };
    stream._writev = (chunks, callback) => {
      for (const { chunk, encoding } of chunks) stdio.push({ type, chunk, encoding });
      callback();
    };
  }
}
