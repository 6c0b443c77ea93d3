/** The streams of durable calls on the server: the work queue with its consumer, and the dead letters. */
import type { ConsumerInfo, JetStreamManager, StreamConfig, StreamInfo } from "@nats-io/jetstream";
import { callsSubject, type ResolvedDurable } from "../options.ts";
import { isMissing } from "./store-errors.ts";

/** The server drops a copy of a message that it got within this time. */
const DUPLICATE_WINDOW_MS = 120_000;
const NANOS = 1_000_000;
/** Name of the consumer that all machines of a subject share. */
export const CONSUMER = "heddle";

/** The queue of calls as the server has it. */
export interface QueueState {
  /** Time after which a call is given to another machine. The first client has set it. */
  readonly ackWaitMs: number;
  /** Differs if the queue has been created anew. */
  readonly created: unknown;
  /** Calls up to this number are stored although they were acknowledged: a server that was killed may have forgotten that. */
  readonly doneUpTo: number | undefined;
}

export interface Names {
  readonly stream: string;
  readonly bucket: string;
  /** Subjects. The calls of each id have one of their own below this. */
  readonly calls: string;
  /** Where earlier versions put all calls. */
  readonly oldCalls: string;
  readonly dead: string;
}

/** Names of streams have no dots. Different subjects have different names. */
export function namesOf(subject: string): Names {
  const name = subject.replaceAll("_", "__").replaceAll(".", "_-");
  return {
    stream: `HEDDLE_${name}`,
    bucket: `heddle_${name}`,
    calls: callsSubject(subject),
    oldCalls: `${subject}.durable`,
    dead: `${subject}.dead`,
  };
}

export async function ensureQueue(
  manager: JetStreamManager,
  { stream, calls, oldCalls }: Names,
  { ackWaitMs, replicas }: ResolvedDurable,
): Promise<QueueState> {
  const subjects = [oldCalls, `${calls}.*`];
  const { config, state } = await ensureStream(manager, {
    name: stream,
    subjects,
    retention: "workqueue",
    num_replicas: replicas,
    duplicate_window: DUPLICATE_WINDOW_MS * NANOS,
  });
  if (config.subjects.length < subjects.length) await manager.streams.update(stream, { subjects });
  // Delayed calls are unacknowledged; any number of them must not hold up others.
  const unlimited = { max_ack_pending: -1 };
  let info: ConsumerInfo = await manager.consumers.info(stream, CONSUMER).catch((error) => {
    if (!isMissing(error)) throw error;
    return manager.consumers.add(stream, {
      durable_name: CONSUMER,
      ack_policy: "explicit",
      ack_wait: ackWaitMs * NANOS,
      ...unlimited,
    });
  });
  if (info.config.max_ack_pending !== -1) {
    info = await manager.consumers.update(stream, CONSUMER, unlimited);
  }
  const done = info.ack_floor.stream_seq;
  return {
    ackWaitMs: (info.config.ack_wait ?? ackWaitMs * NANOS) / NANOS,
    created: info.created,
    doneUpTo: state.messages > 0 && state.first_seq <= done ? done : undefined,
  };
}

export async function ensureDeadLetters(
  manager: JetStreamManager,
  { stream, dead }: Names,
  { replicas, resultMs }: ResolvedDurable,
): Promise<void> {
  await ensureStream(manager, {
    name: `${stream}_DEAD`,
    subjects: [dead],
    num_replicas: replicas,
    max_age: resultMs * NANOS,
    duplicate_window: Math.min(DUPLICATE_WINDOW_MS, resultMs) * NANOS,
  });
}

/** Several machines start at the same time: whoever comes second finds it. */
async function ensureStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { readonly name: string },
): Promise<StreamInfo> {
  try {
    return await manager.streams.info(config.name);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return await manager.streams.add(config).catch(() => manager.streams.info(config.name));
  }
}
