/**
 * The setup module of pools with tasks that get an abort toolkit, or with the option `worker.bootstrap`, whose function it runs
 * in each worker.
 */
import { workerInfo } from "heddle/task";
import { runtimeName } from "./place.ts";
import type { AbortToolkit, WorkerBootstrapContext } from "./types.ts";

/** The function of `worker.bootstrap`. */
export interface BootstrapData {
  readonly href: string;
  readonly name: string;
  readonly data: unknown;
  readonly threads: number;
}

export default async function setUp(data: BootstrapData | undefined): Promise<void> {
  addToolkit();
  if (data !== undefined) await bootstrap(data);
}

/** Gives all signals the methods of an `AbortToolkit`: tasks that are imported by name cannot be wrapped. */
function addToolkit(): void {
  const toolkit: AbortToolkit & ThisType<AbortSignal> = {
    hasAborted() {
      return this.aborted;
    },
    now: () => performance.now(),
  };
  for (const [name, value] of Object.entries(toolkit)) {
    Object.defineProperty(AbortSignal.prototype, name, {
      value,
      configurable: true,
      writable: true,
    });
  }
}

/** Calls the export `name` of the module `href` with `data` and the worker's context. */
async function bootstrap({ href, name, data, threads }: BootstrapData): Promise<void> {
  const module = await import(/* @vite-ignore */ href) as Readonly<Record<string, unknown>>;
  const run = module[name];
  if (typeof run !== "function") {
    throw new TypeError(`${href} exports no function "${name}" (worker.bootstrap).`);
  }
  const context: WorkerBootstrapContext = {
    thread: workerInfo()!.id,
    totalNumberOfThread: threads,
    runtime: runtimeName(),
  };
  await run(data, context);
}
