/** In the browser's build this takes the place of `runtimes/current.ts`. */
import type { Runtime } from "../runtime.ts";
import { createBrowserRuntime } from "./adapter.ts";

export const currentRuntime: Runtime = createBrowserRuntime();
