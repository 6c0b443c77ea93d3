/**
 * Where durable calls are kept: a JetStream work queue of calls, a KV bucket of results, and a stream of dead letters. The
 * first machine or caller that needs them creates them.
 */
import { Promise } from "../../builtins.ts";
import type { JetStreamClient } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { PayloadTooLargeError } from "../../errors.ts";
import type { Runtime } from "../../runtimes/runtime.ts";
import { missingPackage, type ResolvedDurable } from "../options.ts";
import { CallQueue } from "./call-queue.ts";
import type { Delivery } from "./delivery.ts";
import type { ResultStore } from "./result-waits.ts";
import { isMissing, isTaken, isTemporary } from "./store-errors.ts";
import {
  CONSUMER,
  ensureDeadLetters,
  ensureQueue,
  type Names,
  namesOf,
  type QueueState,
} from "./streams.ts";

/** Time for an answer. All requests can be repeated. */
const REQUEST_MS = 2000;
/** Bytes of the NATS headers of a stored call or result, which count for `max_payload`. */
const MAX_HEADER_BYTES = 512;
const LIMIT = `max_payload of the NATS server, less ${MAX_HEADER_BYTES} bytes for headers`;

/** Each request rejects with the error of the NATS client, after it has created what was missing and tried again. */
export interface DurableStore extends ResultStore {
  /** An error if a message of this size cannot be stored. */
  readonly checkSize: (message: Uint8Array) => PayloadTooLargeError | undefined;
  /** Creates what is missing. */
  readonly ensure: () => Promise<QueueState>;
  /** Stores a call, unless there is one of its id. */
  readonly enqueue: (id: string, call: Uint8Array) => Promise<void>;
  /** Stores a call once more, for any number of requests of this name. */
  readonly requeue: (id: string, call: Uint8Array, name: string) => Promise<void>;
  /** Records the result of a call, unless it has one. */
  readonly record: (id: string, result: Uint8Array) => Promise<void>;
  /** Stores a call that has failed for good, or nothing if that cannot be. */
  readonly bury: (call: Uint8Array, name: string) => Promise<void>;
  /** Deletes the calls up to this number. */
  readonly dropCalls: (upTo: number) => Promise<void>;
  readonly openQueue: (
    runtime: Pick<Runtime, "setTimeout">,
    onCall: (delivery: Delivery) => void,
  ) => CallQueue;
}

function tooLarge(bytes: number, maxPayload = 1024 * 1024): PayloadTooLargeError | undefined {
  const maxBytes = maxPayload - MAX_HEADER_BYTES;
  return bytes > maxBytes ? new PayloadTooLargeError(bytes, maxBytes, undefined, LIMIT) : undefined;
}

/** Opens the store of a subject, and creates what is missing. */
export async function openStore(
  connection: NatsConnection,
  subject: string,
  options: ResolvedDurable,
): Promise<DurableStore> {
  const [{ jetstream, jetstreamManager }, { Kvm: Buckets }] = await Promise.all([
    import("@nats-io/jetstream").catch((error) => {
      throw missingPackage("@nats-io/jetstream", "Durable work", error);
    }),
    import("@nats-io/kv").catch((error) => {
      throw missingPackage("@nats-io/kv", "Durable work", error);
    }),
  ]);
  const client = jetstream(connection, { timeout: REQUEST_MS });
  const manager = await jetstreamManager(connection);
  const buckets = new Buckets(client);
  const names = namesOf(subject);
  const { bucket } = names;
  const ensure = shared(async () => {
    const state = await ensureQueue(manager, names, options);
    await ensureDeadLetters(manager, names, options);
    const { resultMs: ttl, replicas } = options;
    await buckets.create(bucket, { ttl, replicas, history: 1 })
      .catch(() => manager.streams.info(`KV_${bucket}`)); // it was created by another client, with other settings
    return state;
  });
  await ensure();
  const results = await buckets.open(bucket, { allow_direct: false });
  const dropCalls = async (upTo: number): Promise<void> => {
    await manager.streams.purge(names.stream, { seq: upTo + 1 });
  };
  return storeOf({ connection, client, results, names, ensure, dropCalls });
}

interface Parts {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  /** Asks the leader: a replica may not have the result yet that a message has just named. */
  readonly results: KV;
  readonly names: Names;
  readonly ensure: DurableStore["ensure"];
  readonly dropCalls: DurableStore["dropCalls"];
}

function storeOf({ connection, client, results, names, ensure, dropCalls }: Parts): DurableStore {
  const whole = async <Result>(request: () => Promise<Result>): Promise<Result> => {
    try {
      return await request();
    } catch (error) {
      if (!isMissing(error)) throw error;
      await ensure();
      return await request();
    }
  };
  const publish = (to: string, message: Uint8Array, name: string): Promise<unknown> =>
    whole(() => client.publish(to, message, { msgID: name }));
  return {
    checkSize: ({ length }) => tooLarge(length, connection.info?.max_payload),
    ensure,
    dropCalls,
    enqueue: async (id, call) => {
      const expect = { lastSubjectSequence: 0 };
      await whole(() => client.publish(`${names.calls}.${id}`, call, { expect }))
        .catch(ignore(isTaken));
    },
    requeue: async (id, call, name) => void await publish(`${names.calls}.${id}`, call, name),
    record: async (id, result) => {
      await whole(() => results.create(id, result)).catch(ignore(isTaken));
    },
    bury: async (call, name) => {
      // Without the header, of any size. What cannot be kept must not hold up the call's result.
      const bare = (): Promise<unknown> =>
        connection.request(names.dead, call, { timeout: REQUEST_MS });
      await publish(names.dead, call, name)
        .catch((error) => isTemporary(error) ? Promise.reject(error) : bare())
        .catch((error) => isTemporary(error) ? Promise.reject(error) : undefined);
    },
    openQueue: (runtime, onCall) =>
      new CallQueue({
        runtime,
        connection,
        subject: `$JS.API.CONSUMER.MSG.NEXT.${names.stream}.${CONSUMER}`,
        onCall,
      }),
    readResult: (id) => whole(() => readResult(results, id)),
    watchResults: (onRecorded) => whole(() => watchResults(client, names.bucket, onRecorded)),
  };
}

async function watchResults(
  client: JetStreamClient,
  bucket: string,
  onRecorded: (id: string) => void,
): Promise<() => void> {
  const prefix = `$KV.${bucket}.`;
  const consumer = await client.consumers.getPushConsumer(`KV_${bucket}`, {
    filter_subjects: `${prefix}>`,
    deliver_policy: "new",
    headers_only: true,
  });
  const messages = await consumer.consume({
    callback: ({ subject }) => onRecorded(subject.slice(prefix.length)),
  });
  return () => {
    messages.stop();
    consumer.delete().catch(() => {}); // the server deletes it after five minutes without a subscriber
  };
}

async function readResult(results: KV, id: string): Promise<Uint8Array | undefined> {
  const entry = await results.get(id);
  return entry?.operation === "PUT" ? entry.value : undefined; // it may have been deleted
}

/** One run at a time: whoever asks meanwhile gets its result. */
function shared<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    running ??= run().finally(() => {
      running = undefined;
    });
}

/** Takes errors of one kind for success. */
const ignore = (isIgnored: (error: unknown) => boolean) => (error: unknown): void => {
  if (!isIgnored(error)) throw error;
};
