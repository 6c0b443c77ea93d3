/** What a feature adds to a worker. The kernel imports no feature: `mod-worker.ts` attaches those of `features/worker.ts`. */
import { Map, Set } from "../builtins.ts";
import { useValues, type ValueFeature } from "../codec/feature.ts";
import type { Signature } from "../codec/declared.ts";
import type { TaskRequests } from "../realm/worker-realm.ts";
import type { WorkerRuntime } from "../runtimes/runtime.ts";
import type { Serve } from "./site.ts";
import type { HeldArgument, TaskWrap, WorkerTask } from "./task.ts";
import type { WorkerCore } from "./worker-core.ts";

/** Everything that a feature may add. */
export interface WorkerFeature extends ValueFeature {
  /** Names of the features that it does not work without. */
  readonly needs?: readonly string[];

  /** Called when a worker begins, before anything is made or loaded, if its host gives it data by the feature's name. */
  readonly start?: (data: never, core: WorkerCore) => void;
  /** Takes messages of the host, by their names (`heddle`). */
  readonly messages?: Readonly<Record<string, MessageHandler>>;

  /** Parts of a worker (`WorkerCore.part`) around the calls of the tasks whose property of this name is true. */
  readonly wraps?: Readonly<Record<string, (core: WorkerCore) => TaskWrap>>;
  /** Other ways to run a task, by the number of the variant (protocol/task-variants.ts): what differs from the task. */
  readonly variants?: Readonly<
    Record<number, (task: WorkerTask, core: WorkerCore) => Partial<WorkerTask>>
  >;
  /** Reads what a task declares of its values: the signature, and its description. */
  readonly signatureOf?: (args: unknown, returns: unknown) => DeclaredSignature;

  /** What a task gets in the place of an argument that lives as long as the call, by its kind. */
  readonly held?: Readonly<Record<number, (index: number, core: WorkerCore) => HeldArgument>>;
  /** Results that are no values. */
  readonly results?: OtherResults;
  /** The part of a worker that `host` and `currentPool` use. */
  readonly requests?: (core: WorkerCore) => TaskRequests;
  /** Loads what serves the host of a process that is a worker. */
  readonly loadServing?: () => Promise<(serve: Serve, runtime: WorkerRuntime) => Promise<void>>;
  /** Sends a value to the caller of the running task. */
  readonly emit?: (value: unknown, core: WorkerCore) => void;
}

type MessageHandler = (message: never, core: WorkerCore) => void;

interface DeclaredSignature {
  readonly signature: Signature | undefined;
  readonly words: string | undefined;
}

/** A result that is no value. `startMs`: as `TaskTimer.begin` returned it. */
export interface OtherResult {
  readonly slot: number;
  readonly generation: number;
  readonly task: WorkerTask;
  readonly value: object;
  readonly startMs: number;
}

/** Results whose parts are sent while the call goes on. */
interface OtherResults {
  /** Whether a result that cannot be cloned is one. */
  is(value: unknown): boolean;
  send(result: OtherResult, core: WorkerCore): void;
  /** A result whose code, which runs later, runs in the context that `bind` returns; other results unchanged. */
  bind(value: unknown, bind: () => <Result>(f: () => Result) => Result): unknown;
}

type Table<Key extends keyof WorkerFeature> = {
  -readonly [Name in keyof NonNullable<WorkerFeature[Key]>]: NonNullable<WorkerFeature[Key]>[Name];
};

interface Seams {
  readonly starts: WorkerFeature[];
  readonly messages: Map<string, MessageHandler[]>;
  readonly wraps: Table<"wraps">;
  readonly variants: Table<"variants">;
  readonly held: Table<"held">;
  signatureOf: WorkerFeature["signatureOf"];
  results: OtherResults | undefined;
  requests: WorkerFeature["requests"];
  loadServing: WorkerFeature["loadServing"];
  emit: WorkerFeature["emit"];
}

/** What the features of this thread have added. */
export const seams: Seams = {
  starts: [],
  messages: new Map(),
  wraps: Object.create(null),
  variants: Object.create(null),
  held: Object.create(null),
  signatureOf: undefined,
  results: undefined,
  requests: undefined,
  loadServing: undefined,
  emit: undefined,
};

const attached = new Set<WorkerFeature>();

/** Attaches features to this worker. A second time changes nothing: a host that runs workers may have pools with different ones. */
export function useInWorker(features: readonly WorkerFeature[]): void {
  for (const feature of features) {
    if (attached.has(feature)) continue;
    attached.add(feature);
    useValues(feature);
    const { start, messages = {}, wraps, variants, held } = feature;
    if (start !== undefined) seams.starts.push(feature);
    for (const [name, handler] of Object.entries(messages)) {
      seams.messages.set(name, [...seams.messages.get(name) ?? [], handler]);
    }
    Object.assign(seams.wraps, wraps);
    Object.assign(seams.variants, variants);
    Object.assign(seams.held, held);
    seams.signatureOf ??= feature.signatureOf;
    seams.results ??= feature.results;
    seams.requests ??= feature.requests;
    seams.loadServing ??= feature.loadServing;
    seams.emit ??= feature.emit;
  }
}
