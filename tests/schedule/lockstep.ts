/**
 * Explores thread schedules of real code: the roles of a scenario run in real threads, but one atomic
 * operation at a time, in every order that a bounded number of preemptions allows, or in random ones.
 *
 * A schedule is a list of choices; each run replays a prefix and goes on with the first choice. With
 * no runnable thread and not all finished, a wake-up was lost: that schedule is reported.
 */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { createRandom } from "../support/random.ts";
import { allScenarios } from "./all-scenarios.ts";
import * as protocol from "./lockstep-protocol.ts";
import { Scheduler } from "./lockstep-scheduler.ts";
import type { Scenario } from "./scenarios.ts";

const { wordOf, STATE, OUTCOME } = protocol;

export interface Exploration {
  readonly schedules: number;
  /** First schedule that went wrong, and how. */
  readonly failure: string | undefined;
}

export interface ExploreOptions {
  /** Schedules after which it gives up. @default 200000 */
  readonly maxSchedules?: number;
  /** Instead of every schedule, `maxSchedules` random ones with any number of preemptions. */
  readonly seed?: number;
}

const WATCHDOG_MS = 20_000;

const VERDICTS: Readonly<Record<number, string>> = {
  [protocol.STUCK]: "lost: nobody can go on",
  [protocol.SPINNING]: "lost: one spins forever",
  [protocol.FAILURE]: "a thread failed",
  [protocol.ENDLESS]: `no end after ${protocol.MAX_STEPS} steps`,
  [protocol.DIVERGED]: "the same choices led elsewhere",
};

/** `preemptionBound`: of each schedule. */
export async function explore(
  name: string,
  preemptionBound: number,
  { maxSchedules = 200_000, seed }: ExploreOptions = {},
): Promise<Exploration> {
  const runs = new Runs(name, seed === undefined ? preemptionBound : protocol.MAX_STEPS);
  const random = seed === undefined ? undefined : createRandom(seed);
  let schedules = 0;
  let failure: string | undefined;
  let isWhole = false;
  try {
    await runs.begin();
    while (schedules < maxSchedules) {
      schedules++;
      const outcome = runs.run(random === undefined ? 0 : 1 + Math.floor(random() * 2 ** 30));
      if (outcome !== undefined) {
        failure = await runs.describe(outcome);
        break;
      }
      if (random === undefined && !runs.advance()) break;
    }
    isWhole = failure === undefined;
  } finally {
    await runs.end(isWhole);
  }
  return { schedules, failure };
}

/** Threads that perform one scenario after the other. */
class Threads {
  readonly control: Int32Array<SharedArrayBuffer> = new Int32Array(
    new SharedArrayBuffer(4 * protocol.CONTROL_WORDS),
  );
  readonly errors: string[] = [];
  readonly count: number;
  readonly #workers: readonly Worker[];
  readonly #ports: readonly MessagePort[];
  readonly #ready: Promise<unknown>;

  constructor(count: number) {
    this.count = count;
    const channels = Array.from({ length: count }, () => new MessageChannel());
    this.#ports = channels.map(({ port1 }) => port1);
    this.#workers = channels.map(({ port2 }, thread) =>
      new Worker(new URL("./lockstep-thread.ts", import.meta.url), {
        workerData: { control: this.control, thread, port: port2 },
        transferList: [port2],
      })
    );
    this.#ready = Promise.all(this.#workers.map((worker) => this.#listen(worker)));
  }

  #listen(worker: Worker): Promise<void> {
    return new Promise((resolve, reject) => {
      worker.on("message", (message) => {
        if (message === "ready") resolve();
        else this.errors.push(String(message));
      });
      worker.on("error", (error) => {
        this.errors.push(String((error as Error).stack));
        reject(error);
      });
    });
  }

  /** Has them perform this scenario from the next run on. */
  async begin(name: string, buffers: readonly SharedArrayBuffer[]): Promise<void> {
    await this.#ready;
    for (const port of this.#ports) port.postMessage({ name, buffers });
    this.control[protocol.SCENARIO]!++;
  }

  async close(): Promise<void> {
    for (const port of this.#ports) port.close();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** Threads without a scenario, by their number. */
const idle = new Map<number, Threads>();

/** Ends the threads that are left of explorations. */
export async function closeThreads(): Promise<void> {
  const all = [...idle.values()];
  idle.clear();
  await Promise.all(all.map((threads) => threads.close()));
}

/** The runs of one scenario. */
class Runs {
  readonly #name: string;
  readonly #scenario: Scenario;
  readonly #pool: Threads;
  readonly #control: Int32Array<SharedArrayBuffer>;
  readonly #memory: SharedArrayBuffer;
  readonly #more: readonly SharedArrayBuffer[];
  readonly #threads: number;
  readonly #scheduler: Scheduler;
  readonly #bound: number;
  /** Choices of the next run that are given. */
  #prefix = 0;

  constructor(name: string, bound: number) {
    const scenario = this.#scenario = allScenarios[name]!;
    this.#name = name;
    this.#bound = bound;
    this.#threads = scenario.threads.length;
    this.#pool = idle.get(this.#threads) ?? new Threads(this.#threads);
    idle.delete(this.#threads);
    this.#control = this.#pool.control;
    this.#scheduler = new Scheduler(this.#control, -1);
    this.#memory = new SharedArrayBuffer(scenario.bytes);
    this.#more = (scenario.moreBytes ?? []).map((bytes) => new SharedArrayBuffer(bytes));
  }

  begin(): Promise<void> {
    return this.#pool.begin(this.#name, [this.#memory, ...this.#more]);
  }

  /** `isWhole`: the threads are at the end of a run, and may perform another scenario. */
  async end(isWhole: boolean): Promise<void> {
    if (isWhole && !idle.has(this.#threads)) idle.set(this.#threads, this.#pool);
    else await this.#pool.close();
  }

  /** Runs one schedule. Undefined if all went well. `random`: state of the generator. */
  run(random: number): string | undefined {
    const control = this.#control;
    new Int32Array(this.#memory).fill(0);
    for (const buffer of this.#more) new Int32Array(buffer).fill(0);
    this.#scenario.reset(this.#memory, this.#more);
    control.fill(0, protocol.CURRENT, protocol.SCENARIO);
    control[protocol.CURRENT] = -1;
    control[protocol.BOUND] = this.#bound;
    control[protocol.PREFIX] = this.#prefix;
    control[protocol.RANDOM] = random;
    control[protocol.RUN_SEED] = random;
    control[protocol.THREADS] = this.#threads;
    control[protocol.MORTAL] = this.#scenario.mortal ?? -1;
    for (let thread = 0; thread < this.#threads; thread++) {
      control.fill(0, wordOf(thread, STATE), wordOf(thread, protocol.FORCED) + 1);
      control[wordOf(thread, STATE)] = protocol.AT_STEP;
    }
    this.#scheduler.pass();
    if (!this.#waitWhile(protocol.VERDICT, 0)) return "a thread is stuck in a step";
    const verdict = control[protocol.VERDICT]!;
    if (verdict !== protocol.COMPLETE) return VERDICTS[verdict];
    if (!this.#unwind()) return "a killed thread goes on";
    return this.#scenario.check(this.#memory, this.#more);
  }

  /** Lets a killed thread leave its role. */
  #unwind(): boolean {
    for (let thread = 0; thread < this.#threads; thread++) {
      if (this.#control[wordOf(thread, STATE)] !== protocol.DEAD) continue;
      this.#control[wordOf(thread, OUTCOME)] = protocol.KILLED;
      this.#scheduler.handTo(thread);
      if (!this.#waitWhile(wordOf(thread, STATE), protocol.DEAD)) return false;
    }
    return true;
  }

  /** False: the word has not changed in time. */
  #waitWhile(index: number, value: number): boolean {
    const deadline = performance.now() + WATCHDOG_MS;
    while (Atomics.load(this.#control, index) === value) {
      Atomics.wait(this.#control, index, value, 100);
      if (performance.now() > deadline) return false;
    }
    return true;
  }

  /** Makes the next run another one than any before. False: there is none. */
  advance(): boolean {
    const control = this.#control;
    for (let choice = control[protocol.CHOICES]! - 1; choice >= 0; choice--) {
      const at = protocol.choiceAt(choice);
      if (control[at]! + 1 >= control[at + 1]!) continue;
      control[at]!++;
      this.#prefix = choice + 1;
      return true;
    }
    return false;
  }

  /** The schedule of the last run, one line per stretch of one thread: operations with addresses. */
  async describe(outcome: string): Promise<string> {
    await new Promise((resolve) => setTimeout(resolve, 50)); // lets an error message arrive
    const lines = [outcome];
    let last = -1;
    for (let step = 0; step < this.#control[protocol.STEPS]!; step++) {
      const at = protocol.logOf(step);
      const [thread, operation, address] = this.#control.subarray(at, at + 3);
      if (thread !== last) lines.push(`thread ${thread}:`);
      last = thread!;
      lines[lines.length - 1] += ` ${protocol.OPERATIONS[operation!]}@${describeAddress(address!)}`;
    }
    return [...lines, ...this.#pool.errors].join("\n");
  }
}

/** Bytes from the start of the buffer; its number in front if it is not the first one. */
function describeAddress(address: number): string {
  const buffer = address >>> protocol.ADDRESS_BITS;
  const byte = address & (1 << protocol.ADDRESS_BITS) - 1;
  return buffer === 0 ? String(byte) : `${buffer}:${byte}`;
}
