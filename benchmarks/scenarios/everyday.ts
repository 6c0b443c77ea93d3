/**
 * `everyday`: what a program notices where the cost of a call is small. A fresh process for each sample: a task of 2 ms, one after the other;
 * what an idle worker adds to the process; a command that turns 500 Markdown files into HTML, from the import until its workers have ended.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "simple-statistics";
import { EVERYDAY_CONTENDERS, type EverydayContender } from "../contenders/everyday.ts";
import { chooseContender, finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { sleep } from "../harness/clock.ts";

import { time } from "./cold-calls.ts";
import * as everyday from "./everyday-cases.ts";

const THREADS = 2;
const TASKS = 200;
const MANY_WORKERS = 16;
const SETTLE_MS = 500;
const BYTES_PER_MIB = 2 ** 20;

type Start = EverydayContender["start"];

/** The median of tasks one after the other, of which the first half warms up. */
async function measureTask(start: Start): Promise<number> {
  const working = await start(1);
  await working.ready;
  const samples: number[] = [];
  for (let n = 0; n < 2 * TASKS; n++) {
    const [, ms] = await time(() => working.run("spin", [everyday.TASK_MS]));
    if (n >= TASKS) samples.push(ms);
  }
  await working.close();
  return median(samples);
}

/** MiB that each of many workers adds, beside one that has been started before. */
async function measureMemory(start: Start): Promise<number> {
  const started = async (threads: number) => {
    const working = await start(threads);
    await working.ready;
    await sleep(SETTLE_MS);
    return { working, bytes: process.memoryUsage().rss };
  };
  const one = await started(1);
  const many = await started(MANY_WORKERS);
  await many.working.close();
  await one.working.close();
  return (many.bytes - one.bytes) / MANY_WORKERS / BYTES_PER_MIB;
}

/** Some 8 KiB of the docs each. */
function writeFiles(folder: string): string[] {
  const docs = new URL("../../docs/", import.meta.url);
  const text = readdirSync(docs).filter((name) => name.endsWith(".md")).sort()
    .map((name) => readFileSync(new URL(name, docs), "utf8")).join("\n");
  const bytes = 8192;
  mkdirSync(folder, { recursive: true });
  return Array.from({ length: everyday.FILES }, (_, n) => {
    const path = join(folder, `${n}.md`);
    const from = (n * 1009) % (text.length - bytes);
    writeFileSync(path, text.slice(from, from + bytes));
    return path;
  });
}

async function measureCommand(start: Start): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "heddle-everyday-"));
  try {
    const paths = writeFiles(folder);
    const [lengths, ms] = await time(async () => {
      const working = await start(THREADS);
      const lengths = await working.run("toHtml", paths);
      await working.close();
      return lengths;
    });
    if (lengths.length !== paths.length || !lengths.every((length) => Number(length) > 0)) {
      throw new Error("Not every file has a page.");
    }
    return ms;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs one process of the contender and case named on the command line and prints its figure. */
export async function run(): Promise<never> {
  const { contender, variant } = readArguments();
  const { start } = chooseContender(EVERYDAY_CONTENDERS, contender);
  const name = variant as everyday.EverydayCase;
  const place = { contender, case: name, size: 1 } as const;
  const figures: Readonly<Record<everyday.EverydayCase, () => Promise<RoundSamples>>> = {
    [everyday.TASK]: async () => ({ ...place, unit: "ms", samples: [await measureTask(start)] }),
    [everyday.WORKER_MEMORY]: async () => ({
      ...place,
      unit: "MiB",
      samples: [await measureMemory(start)],
    }),
    [everyday.COMMAND]: async () => ({
      ...place,
      unit: "ms",
      samples: [await measureCommand(start)],
    }),
  };
  return finish([await figures[name]()]);
}
