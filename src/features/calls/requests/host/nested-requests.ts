/** Makes the nested calls that workers request. */
import { Promise } from "../../../../builtins.ts";
import type { Signature } from "../../../../codec/declared.ts";
import { HeddleError, InvalidArgumentError } from "../../../../errors.ts";
import { ARGUMENTS, type Snapshot, type SnapshotEncoder } from "../../../../lane/snapshot.ts";
import type { NestedSettings } from "../messages.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import type { CallSettings } from "../../../../host/calls/call-settings.ts";
import { noCaller } from "../../../../host/calls/caller-context.ts";
import type { Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import { withContext } from "../../../../host/calls/with-context.ts";
import type { NestedCalls } from "./nested-calls.ts";
import { capturePassing } from "./passing-values.ts";
import type { Nested, TakenRequest } from "./request.ts";

/** A task as nested calls find it. */
export interface NestedTask {
  readonly task: number;
  readonly isStream: boolean;
  /** Checks the first argument, if the host does that. May return a promise. */
  readonly check: ((value: unknown) => unknown) | undefined;
  /** The settings of a call with these options, made by a call of this priority. */
  settings(given: NestedSettings | undefined, priority: number): CallSettings;
}

export interface NestedRequestsOptions {
  /** Encodes arguments for lanes. */
  readonly snapshots: SnapshotEncoder;
  readonly signatures: readonly (Signature | undefined)[];
  readonly hasContext: boolean;
  readonly nested: NestedCalls;
  /** The task of this name, or the error for a name that has none. */
  readonly findTask: (name: string) => NestedTask | HeddleError;
  /** The name of a task, for messages. */
  readonly nameOf: (task: number) => string;
}

export class NestedRequests {
  readonly #options: NestedRequestsOptions;

  constructor(options: NestedRequestsOptions) {
    this.#options = options;
  }

  /**
   * Makes the call. Settles by `resolve` or `reject`. `refusal`: why no worker would run a task. `isBlocked`: the host waits with its
   * thread.
   */
  call(
    request: TakenRequest,
    nested: Nested,
    isBlocked: boolean,
    refusal: HeddleError | undefined,
    resolve: Resolve,
    reject: Reject,
  ): void {
    const { header: [, which] } = request;
    const found = this.#options.findTask(String(which));
    if (found instanceof HeddleError) return reject(found);
    if (found.isStream) {
      return reject(
        new InvalidArgumentError(`"${which}" is a generator, whose items a task cannot get.`),
      );
    }
    if (refusal !== undefined) return reject(refusal);
    const send = (args: readonly unknown[]): void => {
      try {
        this.#send(request, found, nested, args, resolve, reject);
      } catch (error) {
        reject(error);
      }
    };
    const { args } = request;
    const { check } = found;
    if (check === undefined) return send(args);
    const checkAndSend = (): void => {
      const [first, ...others] = args;
      let checked: unknown;
      try {
        checked = check(first);
      } catch (error) {
        return reject(error);
      }
      if (!isThenable(checked)) return send([checked, ...others]);
      Promise.resolve(checked).then((value) => send([value, ...others]), reject);
    };
    // The schema is code of the program, as a function of the host is. A host that blocks makes the call now.
    if (isBlocked) checkAndSend();
    else (nested.context ?? noCaller).run(checkAndSend);
  }

  #send(
    { header: [, , given, context] }: TakenRequest,
    { task, settings }: NestedTask,
    nested: Nested,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
  ): void {
    const snapshot = this.#capture(task, args, context);
    const made = { task, snapshot, settings: settings(given, nested.priority) };
    this.#options.nested.make(nested, made, resolve, reject);
  }

  #capture(task: number, args: readonly unknown[], context: unknown): Snapshot {
    const { snapshots, signatures, hasContext } = this.#options;
    const declared = signatures[task]?.args;
    const sent = hasContext ? withContext(args, context, declared?.length ?? 0) : args;
    const snapshot = capturePassing(snapshots, sent, ARGUMENTS, declared);
    snapshot.departures?.forEach((departure) => departure.closeOrigin());
    return snapshot;
  }
}
