/**
 * A worker that is a process, whose code is loaded when the first of them starts: what is posted meanwhile waits, in order. Most
 * programs have no processes.
 */
import type { PayloadPort } from "../../../../runtimes/runtime.ts";
import type { WorkerHandle, WorkerReading } from "../../../../runtimes/worker-handle.ts";

/** What a worker has when it is there. */
export type LoadedWorker =
  & WorkerHandle
  & Required<Pick<WorkerHandle, "channel" | "begun" | "isBlank">>;

export class LateWorker implements WorkerHandle {
  readonly channel: { readonly local: PayloadPort; readonly remote: undefined };
  readonly maxSent: number | undefined;
  /** Undefined while its code is being loaded. */
  #worker: LoadedWorker | undefined;
  #waiting: ((worker: LoadedWorker) => void)[] = [];
  /** It was stopped before its code was there, and is not started. */
  #isOver = false;
  #onExit: (
    exitCode: undefined,
    death?: { processId: undefined; signal: undefined; stderr: string; failure: string },
  ) => void = () => {};

  /** `load`: loads what starts the worker. */
  constructor(load: () => Promise<() => LoadedWorker>, maxSent: number | undefined) {
    this.maxSent = maxSent;
    this.channel = {
      local: {
        post: (message, transfer, bytes) =>
          this.#soon(({ channel }) => channel.local.post(message, transfer, bytes)),
        receive: () => this.#worker?.channel.local.receive(),
        close: () => {},
      },
      remote: undefined,
    };
    load().then((start) => {
      if (this.#isOver) return;
      const worker = this.#worker = start();
      for (const use of this.#waiting.splice(0)) use(worker);
    }).catch((error: Error) => {
      if (this.#isOver) return;
      if (this.#worker !== undefined) throw error; // of heddle's own code
      const failure = `it could not be started: ${error.message}`;
      this.#onExit(undefined, { processId: undefined, signal: undefined, stderr: "", failure });
    });
  }

  #soon(use: (worker: LoadedWorker) => void): void {
    if (this.#worker === undefined) this.#waiting.push(use);
    else use(this.#worker);
  }

  readonly read = async (): Promise<WorkerReading | undefined> => await this.#worker?.read?.();

  readonly isBlank = (): boolean => this.#worker?.isBlank() !== false;

  readonly begun = (): number | undefined => this.#worker?.begun();

  post(message: unknown): void {
    this.#soon((worker) => worker.post(message));
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#soon((worker) => worker.onMessage(listener));
  }

  onError(listener: (error: unknown) => void): void {
    this.#soon((worker) => worker.onError(listener));
  }

  onExit(listener: Parameters<WorkerHandle["onExit"]>[0]): void {
    this.#onExit = listener;
    this.#soon((worker) => worker.onExit(listener));
  }

  ref(): void {
    this.#soon((worker) => worker.ref());
  }

  unref(): void {
    this.#soon((worker) => worker.unref());
  }

  async terminate(): Promise<unknown> {
    if (this.#worker !== undefined) return await this.#worker.terminate();
    this.#isOver = true;
    await undefined; // those who stop it expect its end later
    return this.#onExit(undefined);
  }
}
