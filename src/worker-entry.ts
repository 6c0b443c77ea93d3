/**
 * Where workers start. This file and that module lie in the same places in the sources and in the build, which differ
 * in the extension only.
 */
const extension: string = import.meta.url.endsWith(".ts") ? "ts" : "js";

export const workerEntry: URL = new URL(`./worker/entry.${extension}`, import.meta.url);
