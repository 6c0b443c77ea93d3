/**
 * `nats`: calls to another process through a NATS server on loopback, beside bare requests of the NATS client: time of a
 * call with 1 and 100 at once, and calls a second of a task of 1 ms with 1, 2 and 4 worker processes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { connect } from "@nats-io/transport-node";
import { connectPool } from "../../dist/nats.js";
import { fetchNatsServer } from "../../scripts/nats-server.ts";
import { finish, readArguments, type RoundSamples } from "../harness/child.ts";
import { AT_ONCE, HEDDLE, MACHINES, RAW, ROUND_TRIP, THROUGHPUT } from "./nats-cases.ts";

type Tasks = typeof import("../contenders/nats-tasks.ts");

const NS_PER_MS = 1e6;
const MS_PER_S = 1000;
const TEXT = "x".repeat(100);
const TASK_US = 1000;
/** One after the other, each call is a sample; at once, so many calls are one. */
const CALLS_AT_ONE = 1;
const CALLS_AT_MANY = 2000;
const SAMPLES_AT_ONE = 5000;
const SAMPLES_AT_MANY = 50;
/** Part of the samples in a quick run. */
const QUICK_PART = 0.1;
const WARM_UP_CALLS = 5000;
/** Calls that keep each machine busy. */
const CALLS_PER_MACHINE = 16;

const machine = fileURLToPath(new URL("../contenders/nats-machine.ts", import.meta.url));
const children: ChildProcess[] = [];

/** Resolves when the output of the process matches. */
function start(file: string, args: readonly string[], pattern: RegExp): Promise<RegExpMatchArray> {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  return new Promise((resolve, reject) => {
    const onData = (chunk: unknown): void => {
      const match = pattern.exec(output += String(chunk));
      if (match !== null) resolve(match);
    };
    child.stdout.on("data", onData);
    child.stderr.on("data", onData);
    child.on("exit", (code) => reject(new Error(`${file} ended with ${code}: ${output}`)));
  });
}

async function startServer(): Promise<string> {
  const found = fetchNatsServer();
  if (!("path" in found)) throw new Error(found.reason);
  const listening = /Listening for client connections on (127\.0\.0\.1:\d+)/;
  return (await start(found.path, ["-a", "127.0.0.1", "-p", "-1"], listening))[1]!;
}

function startMachine(kind: string, servers: string): Promise<unknown> {
  const flags = "Deno" in globalThis ? ["run", "-A", "--quiet"] : [];
  return start(process.execPath, [...flags, machine, kind, servers], /^ready$/m);
}

/** Nanoseconds for each of `calls`, of which so many are under way at a time. */
async function timeCalls(
  atOnce: number,
  calls: number,
  call: () => Promise<boolean>,
): Promise<number> {
  let left = calls;
  const work = async (): Promise<void> => {
    while (left-- > 0) if (!await call()) throw new Error("a wrong answer");
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, work));
  return (performance.now() - startMs) * NS_PER_MS / calls;
}

async function roundTrips(isQuick: boolean, call: () => Promise<boolean>): Promise<RoundSamples[]> {
  const found: RoundSamples[] = [];
  for (const atOnce of AT_ONCE) {
    const calls = atOnce === 1 ? CALLS_AT_ONE : CALLS_AT_MANY;
    const count = (atOnce === 1 ? SAMPLES_AT_ONE : SAMPLES_AT_MANY) * (isQuick ? QUICK_PART : 1);
    const samples: number[] = [];
    await timeCalls(atOnce, WARM_UP_CALLS * (isQuick ? QUICK_PART : 1), call);
    for (let n = 0; n < count; n++) samples.push(await timeCalls(atOnce, calls, call));
    found.push({ case: ROUND_TRIP, size: atOnce, unit: "ns", samples });
  }
  return found;
}

/** Calls a second of a task of 1 ms. One machine of this kind runs already. */
async function throughput(
  isQuick: boolean,
  startOne: () => Promise<unknown>,
  call: () => Promise<boolean>,
): Promise<RoundSamples[]> {
  const found: RoundSamples[] = [];
  let machines = 1;
  for (const size of MACHINES) {
    for (; machines < size; machines++) await startOne();
    const atOnce = CALLS_PER_MACHINE * size;
    const samples: number[] = [];
    const calls = (isQuick ? 4 : 20) * atOnce;
    await timeCalls(atOnce, calls, call); // warms up
    for (let n = 0; n < (isQuick ? 3 : 5); n++) {
      samples.push(MS_PER_S * NS_PER_MS / await timeCalls(atOnce, calls, call));
    }
    found.push({ case: THROUGHPUT, size, unit: "requests/s", samples });
  }
  return found;
}

async function byRaw(isQuick: boolean, kind: string, servers: string): Promise<RoundSamples[]> {
  const startOne = (): Promise<unknown> => startMachine(kind, servers);
  await startOne();
  const connection = await connect({ servers });
  const bytes = new TextEncoder().encode(TEXT);
  const request = async (subject: string, data: Uint8Array | string): Promise<Uint8Array> =>
    (await connection.request(subject, data, { timeout: 60_000 })).data;
  const echo = async (): Promise<boolean> =>
    (await request("raw.echo", bytes)).length === bytes.length;
  const spin = async (): Promise<boolean> => (await request("raw.spin", `${TASK_US}`)).length > 0;
  return [...await roundTrips(isQuick, echo), ...await throughput(isQuick, startOne, spin)];
}

async function byHeddle(isQuick: boolean, servers: string): Promise<RoundSamples[]> {
  const startOne = (): Promise<unknown> => startMachine("heddle", servers);
  await startOne();
  const pool = connectPool({ servers, subject: "heddle" })<Tasks>();
  const echo = async (): Promise<boolean> => (await pool.call.echo(TEXT)).length === TEXT.length;
  const spin = async (): Promise<boolean> => await pool.call.spin(TASK_US) > 0;
  return [...await roundTrips(isQuick, echo), ...await throughput(isQuick, startOne, spin)];
}

/** Runs one round of the contender named on the command line and prints its figures. */
export async function run(): Promise<never> {
  const { contender, isQuick } = readArguments();
  let found: RoundSamples[];
  try {
    const servers = await startServer();
    found = contender === HEDDLE
      ? await byHeddle(isQuick, servers)
      : await byRaw(isQuick, contender === RAW ? "raw" : "pool", servers);
  } finally {
    for (const child of children) {
      child.removeAllListeners("exit");
      child.kill("SIGKILL");
    }
  }
  return finish(found);
}
