/** Pools of the tests, which end with their test. */
import process from "node:process";
import { afterEach } from "vitest";
import Tinypool, { type Options } from "@heddle/tinypool";

export const tasks = new URL("./fixtures/tasks.mjs", import.meta.url).href;
export const fixture = (name: string): string =>
  new URL(`./fixtures/${name}`, import.meta.url).href;

export const isBun = "bun" in process.versions;
export const isDeno = "deno" in process.versions;
export const isNode = !isBun && !isDeno;

export const RUNTIMES = ["worker_threads", "child_process"] as const;

const open: Tinypool[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.destroy()));
});

/** With the environment of the tests, which processes otherwise lack: Deno's cache is found by it. */
export function poolOf(options: Options = {}): Tinypool {
  const pool = new Tinypool({
    filename: tasks,
    minThreads: 1,
    maxThreads: 1,
    env: process.env as Record<string, string>,
    ...options,
  });
  open.push(pool);
  return pool;
}

/** Resolves when `check` holds. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 2));
}
