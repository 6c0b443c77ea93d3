/**
 * The measured program in JavaScript: runs all tasks at once and prints its figures, a line of JSON. The argument is
 * JSON: { contender, tasks, origin, work, threads }, or { calibrateMs } to find out how many units of work take that long.
 */
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

/** Each loads only what it needs, so that its memory is its own. */
const CONTENDERS = {
  "heddle": async ({ origin, work, threads }) => {
    const { createPool } = await import("../../dist/mod.js");
    const pool = createPool({ threads })(new URL("requests.mjs", import.meta.url));
    await pool.ready;
    return (task) => pool.call.askServer(origin, task, work);
  },
  "plain async": async ({ origin, work }) => {
    const { askServer } = await import("./requests.mjs");
    return (task) => askServer(origin, task, work);
  },
  "thread per task": ({ origin, work }) => (task) =>
    new Promise((resolve) => {
      const module = new URL("thread.mjs", import.meta.url);
      const worker = new Worker(module, { workerData: { origin, task, work } });
      worker.once("message", resolve);
      worker.once("error", (error) => resolve({ right: 0, error: String(error) }));
    }),
};

/** KiB of resident memory at most so far. */
const peakKiB = () => {
  const [, kiB] = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(kiB);
};

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function run({ contender, tasks, ...options }) {
  const startMs = performance.now();
  const call = await CONTENDERS[contender](options);
  const startedMs = performance.now();
  const peakBefore = peakKiB();
  const cpuBefore = cpuMs();
  const beganMs = performance.now();
  const outcomes = await Promise.all(Array.from({ length: tasks }, (_, task) => call(task)));
  const wallMs = performance.now() - beganMs;
  return {
    startMs: startedMs - startMs,
    wallMs,
    cpuMs: cpuMs() - cpuBefore,
    peakBeforeKiB: peakBefore,
    peakKiB: peakKiB(),
    right: outcomes.reduce((sum, { right }) => sum + right, 0),
    error: outcomes.find(({ error }) => error !== undefined)?.error,
  };
}

/** Rounds of which the fastest counts: what interrupts a round only makes it longer. */
const CALIBRATION_ROUNDS = 20;
const MIN_UNITS = 100;

async function calibrate(ms) {
  const { compute } = await import("./requests.mjs");
  const timeOf = (units) => {
    const startMs = performance.now();
    compute(units);
    return performance.now() - startMs;
  };
  let units = MIN_UNITS;
  while (timeOf(units) < ms) units *= 2;
  let leastMs = Infinity;
  for (let n = 0; n < CALIBRATION_ROUNDS; n++) leastMs = Math.min(leastMs, timeOf(units));
  return { work: Math.round(units * ms / leastMs) };
}

const options = JSON.parse(process.argv[2]);
const found = options.calibrateMs === undefined
  ? await run(options)
  : await calibrate(options.calibrateMs);
process.stdout.write(`${JSON.stringify(found)}\n`, () => process.exit(0));
