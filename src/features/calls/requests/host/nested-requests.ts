/** Makes the nested calls that workers request. */
import { Map, Promise } from "../../../../builtins.ts";
import { unknownTask } from "../../../../api/calls/call-proxy.ts";
import { mergeOptions } from "../../../../api/options/call-options.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";
import { HeddleError, InvalidArgumentError } from "../../../../errors.ts";
import { ARGUMENTS } from "../../../../lane/snapshot.ts";
import type { NestedSettings } from "../messages.ts";
import { isThenable } from "../../../../protocol/is-thenable.ts";
import { type CallSettings, createSettings } from "../../../../host/calls/call-settings.ts";
import { noCaller } from "../../../../host/calls/caller-context.ts";
import type { Reject, Resolve } from "../../../../host/calls/in-flight.ts";
import { withContext } from "../../../../host/calls/with-context.ts";
import type { NestedCalls } from "./nested-calls.ts";
import { capturePassing } from "./passing-values.ts";
import type { Nested, TakenRequest } from "./request.ts";

/** A task as nested calls find it. */
interface NestedTask {
  readonly task: number;
  /** The settings of its last call without options. */
  plain: CallSettings | undefined;
}

export class NestedRequests {
  readonly #host: PoolParts;
  readonly #nested: NestedCalls;
  readonly #tasks = new Map<string, NestedTask>();

  constructor(host: PoolParts, nested: NestedCalls) {
    this.#host = host;
    this.#nested = nested;
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
    const found = this.#find(String(which));
    if (found instanceof HeddleError) return reject(found);
    const { isStream, check } = this.#host.spec.tasks[found.task]!;
    if (isStream) {
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

  #find(name: string): NestedTask | HeddleError {
    let found = this.#tasks.get(name);
    if (found !== undefined) return found;
    const { spec } = this.#host;
    const task = spec.sources.findIndex((source) => source.name === name);
    if (task < 0) return unknownTask(name, spec);
    this.#tasks.set(name, found = { task, plain: undefined });
    return found;
  }

  #send(
    { header: [, , given, context] }: TakenRequest,
    found: NestedTask,
    nested: Nested,
    args: readonly unknown[],
    resolve: Resolve,
    reject: Reject,
  ): void {
    const { spec: { options, signatures }, snapshots } = this.#host;
    const declared = signatures[found.task]?.args;
    const sent = options.capture === undefined
      ? args
      : withContext(args, context, declared?.length ?? 0);
    const snapshot = capturePassing(snapshots, sent, ARGUMENTS, declared);
    snapshot.departures?.forEach((departure) => departure.closeOrigin());
    const settings = this.#settingsOf(found, given, nested.priority);
    this.#nested.make(nested, found.task, snapshot, settings, resolve, reject);
  }

  /** The settings of a call with these options, made by a call of this priority. */
  #settingsOf(
    found: NestedTask,
    given: NestedSettings | undefined,
    parentPriority: number,
  ): CallSettings {
    const { tasks, options: { hardTimeoutMs, balancer } } = this.#host.spec;
    const own = tasks[found.task]!.settings;
    const merged = given === undefined ? own : mergeOptions(own, given);
    // The balancer "fifo" ignores priorities.
    const priority = balancer === "fifo" ? 0 : merged.priority ?? parentPriority;
    if (given === undefined && found.plain?.priority === priority) return found.plain;
    const affinity = { isNested: true } as const;
    const settings = createSettings({ hardTimeoutMs, ...merged, priority, affinity });
    if (given === undefined) found.plain = settings;
    return settings;
  }
}
