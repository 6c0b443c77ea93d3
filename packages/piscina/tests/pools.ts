/** Pools of `@heddle/piscina` for its tests, which end with the test. */
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import Piscina, { type PiscinaOptions } from "@heddle/piscina";

/** The path of a worker file. */
export const piscinaFile = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

/** Of one worker, unless the options say otherwise. */
export function piscinaPool(options: PiscinaOptions = {}): Piscina {
  const pool = new Piscina({
    minThreads: 1,
    maxThreads: 1,
    filename: piscinaFile("worker.mjs"),
    ...options,
  });
  onTestFinished(() => pool.destroy());
  return pool;
}
