/**
 * Where durable calls are kept: a JetStream work queue of calls, a KV bucket of results, and a stream of dead letters. The
 * first machine or caller that needs them creates them.
 */
import { JSON, Promise } from "../../builtins.ts";
import type { JetStreamClient, JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import type { KV, Kvm } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import { InvalidArgumentError, PayloadTooLargeError } from "../../errors.ts";
import { missingPackage, type ResolvedDurable } from "../options.ts";
import type { ResultStore } from "./result-waits.ts";

/** JetStream drops calls of an id that it got within this time; later ones are found by their recorded result. */
const DUPLICATE_WINDOW_MS = 120_000;
const NANOS = 1_000_000;
/** Bytes of the NATS headers of a stored call or result, which count for `max_payload`. */
const MAX_HEADER_BYTES = 512;
const LIMIT = `max_payload of the NATS server, less ${MAX_HEADER_BYTES} bytes for headers`;
/** Name of the consumer that all machines of a subject share. */
export const CONSUMER = "heddle";
const ID = /^[\w=-]{1,128}$/;

export interface DurableStore extends ResultStore {
  readonly client: JetStreamClient;
  readonly results: KV;
  readonly stream: string;
  /** Subject of calls, and of calls that failed for good. */
  readonly subject: string;
  readonly deadSubject: string;
  /** An error if a message of this size cannot be stored. */
  readonly checkSize: (message: Uint8Array) => PayloadTooLargeError | undefined;
  /** Creates the queue of calls if it was deleted. */
  readonly ensureQueue: () => Promise<void>;
}

/** Checks the id of a durable call, which names its result. Throws InvalidArgumentError. */
export function checkId(id: unknown): string {
  if (typeof id === "string" && ID.test(id)) return id;
  throw new InvalidArgumentError(
    "The id of a durable call must be 1 to 128 letters, digits, '-', '_' and '=', got " +
      `${typeof id === "string" ? JSON.stringify(id) : typeof id}.`,
  );
}

function tooLarge(bytes: number, maxPayload = 1024 * 1024): PayloadTooLargeError | undefined {
  const maxBytes = maxPayload - MAX_HEADER_BYTES;
  return bytes > maxBytes ? new PayloadTooLargeError(bytes, maxBytes, undefined, LIMIT) : undefined;
}

/** Opens the store of a subject, and creates what is missing. */
export async function openStore(
  connection: NatsConnection,
  subject: string,
  { ackWaitMs, resultMs, replicas }: ResolvedDurable,
): Promise<DurableStore> {
  const [{ jetstream, jetstreamManager }, { Kvm: Buckets }] = await Promise.all([
    import("@nats-io/jetstream").catch((error) => {
      throw missingPackage("@nats-io/jetstream", "Durable work", error);
    }),
    import("@nats-io/kv").catch((error) => {
      throw missingPackage("@nats-io/kv", "Durable work", error);
    }),
  ]);
  const client = jetstream(connection);
  const manager = await jetstreamManager(connection);
  // Names of streams have no dots. Different subjects have different names.
  const name = subject.replaceAll("_", "__").replaceAll(".", "_-");
  const stream = `HEDDLE_${name}`;
  const ensureQueue = async (): Promise<void> => {
    await ensureStream(manager, {
      name: stream,
      subjects: [`${subject}.durable`],
      retention: "workqueue",
      num_replicas: replicas,
      duplicate_window: DUPLICATE_WINDOW_MS * NANOS,
    });
    await manager.consumers.info(stream, CONSUMER).catch(() =>
      manager.consumers.add(stream, {
        durable_name: CONSUMER,
        ack_policy: "explicit",
        ack_wait: ackWaitMs * NANOS,
        max_ack_pending: 100_000,
      })
    );
  };
  await ensureQueue();
  await ensureStream(manager, {
    name: `HEDDLE_${name}_DEAD`,
    subjects: [`${subject}.dead`],
    num_replicas: replicas,
    max_age: resultMs * NANOS,
    duplicate_window: Math.min(DUPLICATE_WINDOW_MS, resultMs) * NANOS,
  });
  const buckets = new Buckets(connection);
  const bucket = `heddle_${name}`;
  const results = await buckets.create(bucket, { ttl: resultMs, replicas, history: 1 })
    .catch(() => buckets.open(bucket));
  return {
    client,
    results,
    stream,
    ensureQueue,
    subject: `${subject}.durable`,
    deadSubject: `${subject}.dead`,
    ...await openResults(client, buckets, bucket),
    checkSize: ({ length }) => tooLarge(length, connection.info?.max_payload),
  };
}

/** Reads recorded results and watches for them. */
async function openResults(
  client: JetStreamClient,
  buckets: Kvm,
  bucket: string,
): Promise<ResultStore> {
  const prefix = `$KV.${bucket}.`;
  // Asks the leader: a replica may not have the result yet that a message has just named.
  const leader = await buckets.open(bucket, { allow_direct: false });
  return {
    readResult: async (id) => {
      const entry = await leader.get(id);
      return entry?.operation === "PUT" ? entry.value : undefined;
    },
    watchResults: async (onRecorded) => {
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
    },
  };
}

/** Several machines start at the same time: whoever comes second finds it. */
async function ensureStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { readonly name: string },
): Promise<void> {
  await manager.streams.info(config.name).catch(() => manager.streams.add(config))
    .catch((error) =>
      manager.streams.info(config.name).catch(() => {
        throw error;
      })
    );
}
