/** The caller's side of durable work: `pool.enqueue` and `pool.result`. */
import { Map, Promise as BuiltinPromise } from "../../builtins.ts";
import { createTable } from "../../api/calls/call-proxy.ts";
import { checkKeys, checkMs, invalid, isRecord, ownOf, show } from "../../option-checks.ts";
import type { Calls } from "../../api/calls/call-types.ts";
import { InvalidArgumentError, ProtocolError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { endStreams } from "../../features/calls/streams/sources/open-source.ts";
import { refuseStream } from "../caller/call-message.ts";
import { FAILURE, headerOf, RESULT } from "../wire/frames.ts";
import type { MessageCodec } from "../wire/message-codec.ts";
import { randomId } from "../options.ts";
import { checkId, checkSettings, encodeCall, type RunSettings } from "./durable-call.ts";
import { RequestLine } from "./request-line.ts";
import { ResultWaits } from "./result-waits.ts";
import type { DurableStore } from "./store.ts";
import { CANNOT_OPEN, codedError, isTemporary } from "./store-errors.ts";

/** Options of a durable call. */
export interface EnqueueOptions {
  /**
   * Names the call and its result: 1 to 128 letters, digits, `-`, `_` and `=`. A second call of the same id is dropped
   * while the first one waits or its result is kept.
   *
   * @default a random one
   */
  readonly id?: string;
  /**
   * Time before the first run, in milliseconds.
   *
   * @default 0
   */
  readonly delayMs?: number;
  /**
   * Further runs after the task has thrown or its machine was lost. Then the call is a dead letter.
   *
   * @default 3
   */
  readonly retries?: number;
}

/** `pool.enqueue`: the tasks, called with a list of arguments. The promises resolve with the id when NATS has stored the call. */
export type EnqueueCalls<Module> = {
  readonly [Name in keyof Calls<Module>]: Calls<Module>[Name] extends
    (...args: infer Args) => unknown
    ? (args: Readonly<Args>, options?: EnqueueOptions) => Promise<string>
    : never;
};

/** Options of `pool.result`. */
export interface ResultOptions {
  /**
   * Longest wait, in milliseconds. Then the promise rejects with TimeoutError.
   *
   * @default none
   */
  readonly timeoutMs?: number;
}

type Enqueue = (args: readonly unknown[], options?: EnqueueOptions) => Promise<string>;

const NOT_STORED = "it is a stream, and a durable call is stored as a whole";

export class DurableCalls {
  readonly enqueue: Readonly<Record<string, Enqueue>>;
  readonly #codec: MessageCodec;
  readonly #waits: ResultWaits;
  readonly #open: () => Promise<DurableStore>;
  readonly #line: RequestLine;

  /** `open` is called for each call; it returns the same store. `waitMs`: how long `enqueue` waits for a server. */
  constructor(
    codec: MessageCodec,
    runtime: Runtime,
    open: () => Promise<DurableStore>,
    waitMs: number,
  ) {
    this.#codec = codec;
    this.#line = new RequestLine(runtime, waitMs);
    this.#open = () =>
      open().catch((error) => {
        if (!isTemporary(error)) throw codedError(CANNOT_OPEN, error);
        return this.#line.run(open, (reason) => codedError(CANNOT_OPEN, reason));
      });
    this.#waits = new ResultWaits(runtime, this.#line, this.#open);
    const calls = new Map<string, Enqueue>();
    this.enqueue = createTable<Enqueue>((task) => {
      let call = calls.get(task);
      if (call === undefined) {
        calls.set(task, call = (args, options) => this.#enqueue(task, args, options));
      }
      return call;
    });
  }

  async #enqueue(task: string, args: readonly unknown[], options: unknown): Promise<string> {
    if (!Array.isArray(args)) throw invalid("The arguments of enqueue", "a list", show(args));
    let values: readonly unknown[] = args;
    try {
      const { id, ...request } = requestOf(options);
      values = await BuiltinPromise.all(args);
      for (const [index, value] of values.entries()) refuseStream(value, index, NOT_STORED);
      const message = encodeCall(this.#codec, task, request, values);
      const store = await this.#open();
      const tooLarge = store.checkSize(message);
      if (tooLarge !== undefined) throw tooLarge;
      await this.#line.run(() => store.enqueue(id, message), (reason) =>
        codedError(
          `NATS has not confirmed that it has stored the call "${id}"; it may be stored`,
          reason,
        ));
      return id;
    } catch (error) {
      endStreams(values);
      throw error;
    }
  }

  /** What the call of this id returned; rejects with what it threw in its last run. Waits until it has ended. */
  async result(id: string, options: ResultOptions = {}): Promise<unknown> {
    checkKeys("result()", options, ["timeoutMs"]);
    const timeoutMs = checkMs("timeoutMs", options.timeoutMs ?? Infinity);
    return this.#read(await this.#waits.wait(checkId(id), timeoutMs));
  }

  /** Ends all requests and waits for results with `reason`. Resolves when their subscription has been asked to end. */
  async close(reason: unknown): Promise<void> {
    this.#line.close(reason);
    await this.#waits.close(reason);
  }

  #read(bytes: Uint8Array): unknown {
    const header = headerOf(bytes, "A recorded result");
    if (header.kind !== RESULT && header.kind !== FAILURE) {
      throw new ProtocolError(`A recorded result is a message of kind ${header.kind}.`);
    }
    const [value] = this.#codec.decode(bytes, header);
    if (header.kind === FAILURE) throw value;
    return value;
  }
}

function requestOf(options: unknown = {}): RunSettings & { readonly id: string } {
  if (!isRecord(options)) {
    throw new InvalidArgumentError(`enqueue takes an object of options, got ${show(options)}.`);
  }
  checkKeys("enqueue", options, ["id", "delayMs", "retries"]);
  const { id = `${randomId().toString(36)}-${randomId().toString(36)}`, delayMs = 0, retries = 3 } =
    ownOf<EnqueueOptions>(options);
  return { id: checkId(id), ...checkSettings({ delayMs, retries }) };
}
