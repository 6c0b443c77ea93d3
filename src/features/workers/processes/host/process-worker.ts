/** A worker that is a process, behind the handle of a thread. */
import { Promise } from "../../../../builtins.ts";
import type { PayloadPort, Runtime } from "../../../../runtimes/runtime.ts";
import type { WorkerHandle } from "../../../../runtimes/worker-handle.ts";
import type { ChildProcess, Death } from "../../../../runtimes/processes/types.ts";
import { Channel } from "../channel.ts";
import { MAX_FRAME_BYTES } from "../frames.ts";
import { HOST, readBegun } from "../shared-file.ts";

/** Bytes of a frame beside a payload; not less than a value in the file can have. */
const FRAME_ROOM = 16 * 1024 * 1024;

export class ProcessWorker implements WorkerHandle {
  readonly channel: { readonly local: PayloadPort; readonly remote: undefined };
  readonly begun: () => number | undefined;
  readonly isBlank: () => boolean;
  readonly read: NonNullable<WorkerHandle["read"]>;
  readonly ref: () => void;
  readonly unref: () => void;
  readonly #child: ChildProcess;
  readonly #channel: Channel;
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  #hasSpoken = false;
  #onMessage: (message: unknown) => void = () => {};
  #onError: (error: unknown) => void = () => {};

  constructor(child: ChildProcess, runtime: Runtime, maxPayloadBytes: number) {
    this.#child = child;
    const { file } = child;
    this.begun = () => file === undefined ? undefined : readBegun(file);
    // The word counts because a busy host has not read the pipe, and the pipe because a child may be unable to write the word.
    this.isBlank = () => !this.#hasSpoken && file !== undefined && readBegun(file) === undefined;
    this.read = child.read;
    this.ref = child.ref;
    this.unref = child.unref;
    const guarded = { ...child, onData: (take: (bytes: Uint8Array) => void) => this.#listen(take) };
    const maxFrameBytes = Math.min(MAX_FRAME_BYTES, maxPayloadBytes + FRAME_ROOM);
    this.#channel = new Channel(
      guarded,
      HOST,
      runtime,
      (message) => this.#onMessage(message),
      maxFrameBytes,
    );
    this.channel = { local: this.#channel.port, remote: undefined };
  }

  /** What a process sends that breaks the protocol ends it. */
  #listen(take: (bytes: Uint8Array) => void): void {
    let isDamaged = false;
    this.#child.onData((bytes) => {
      this.#hasSpoken = true;
      if (isDamaged) return;
      try {
        take(bytes);
      } catch (error) {
        isDamaged = true;
        this.#onError(error);
        this.#child.kill();
      }
    });
  }

  post(message: unknown): void {
    this.#channel.post(message);
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#onMessage = listener;
  }

  onError(listener: (error: unknown) => void): void {
    this.#onError = listener;
  }

  onExit(listener: (exitCode: number | undefined, death: Death) => void): void {
    this.#child.onExit((exitCode, death) => {
      this.#ended.resolve();
      listener(exitCode, death);
    });
  }

  terminate(): Promise<void> {
    this.#child.kill();
    return this.#ended.promise;
  }
}
