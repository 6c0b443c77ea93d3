/** The workers of a farm, and what they print. */
import { PassThrough } from "node:stream";
import { type OnOutput, PoolWorker } from "./pool-worker.ts";
import type {
  PoolExitResult,
  WorkerCallback,
  WorkerPoolInterface,
  WorkerPoolOptions,
} from "./types.ts";

/** Time for workers to end by themselves, in milliseconds. */
const GRACE_MS = 500;
/** Bytes of output that wait for a reader. A program that never reads it loses what comes then. */
const MOST_UNREAD = 1024 * 1024;

export class WorkerPool implements WorkerPoolInterface {
  readonly #workers: readonly PoolWorker[];
  readonly #graceMs: number;
  readonly #output: { readonly stdout: PassThrough; readonly stderr: PassThrough };

  constructor(path: string, options: WorkerPoolOptions) {
    this.#graceMs = options.workerGracefulExitTimeout ?? GRACE_MS;
    const output = this.#output = { stdout: new PassThrough(), stderr: new PassThrough() };
    const onOutput: OnOutput = (stream, text) => {
      const { readableLength, writableLength } = output[stream];
      if (readableLength + writableLength < MOST_UNREAD) output[stream].write(text);
    };
    this.#workers = Array.from(
      { length: options.numWorkers },
      (_, id) => new PoolWorker(id, path, options, onOutput),
    );
  }

  getStderr(): NodeJS.ReadableStream {
    return this.#output.stderr;
  }

  getStdout(): NodeJS.ReadableStream {
    return this.#output.stdout;
  }

  readonly send: WorkerCallback = (id, request, onStart, onEnd, onCustomMessage) =>
    this.#workers[id]!.send(request, onStart, onEnd, onCustomMessage);

  async start(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.prepare()));
  }

  async end(): Promise<PoolExitResult> {
    const forced = await Promise.all(this.#workers.map((worker) => worker.end(this.#graceMs)));
    this.#output.stdout.end();
    this.#output.stderr.end();
    return { forceExited: forced.includes(true) };
  }
}
