/** Pools that are collected as garbage. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runFile } from "../support/runtime.ts";

test("garbage-collected pools are closed with one warning", async () => {
  const file = fileURLToPath(new URL("../fixtures/scripts/forgotten.ts", import.meta.url));
  const { code, output } = await runFile(file, ["--expose-gc"], 50_000);
  const [warning, ...lines] = output.split("\n");
  expect(warning).toMatch(/^heddle: a pool without references was closed/);
  expect([code, ...lines]).toEqual([0, "forgotten true kept 0 busy 0", "1 1 2 3", "4", ""]);
});

test("garbage-collected pools give the threads of their budget back", async () => {
  const file = fileURLToPath(new URL("../fixtures/scripts/forgotten-budget.ts", import.meta.url));
  const { code, output } = await runFile(file, ["--expose-gc"], 50_000);
  expect([code, output.split("\n").slice(1)]).toEqual([0, ["6 threads, some left: true 2", ""]]);
});

test("pools that were shut down are collected, whatever was called before they were ready", async () => {
  const file = fileURLToPath(new URL("../fixtures/scripts/closed-pools.ts", import.meta.url));
  const { code, output } = await runFile(file, ["--expose-gc"], 120_000);
  expect([code, output]).toEqual([0, "true left: []\n"]);
});

test("objects in workers whose handles were collected are released, with one warning", async () => {
  const file = fileURLToPath(new URL("../fixtures/scripts/forgotten-objects.ts", import.meta.url));
  const { code, output } = await runFile(file, ["--expose-gc"], 120_000);
  const lines = output.trim().split("\n");
  expect(lines.filter((line) => line.startsWith("heddle: an object of a worker was collected")))
    .toHaveLength(1);
  const printed = lines.filter((line) => !line.startsWith("heddle:")).join(" ").replaceAll(
    /\s/g,
    "",
  );
  expect([code, printed]).toEqual([0, "[1,1,1,1,1]truetrue1"]);
});
