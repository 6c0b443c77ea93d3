/** Functions of the host among the arguments of a call. */
import { Promise } from "../../../../builtins.ts";
import { CallbackEndedError } from "../../../../errors.ts";
import type { CallId } from "../messages.ts";
import type { HeldArgument } from "../../../../worker/task.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";
import { hostRequests } from "./host-requests.ts";

/** A function of the host that the task may call until its own call has ended. */
export class Callback implements HeldArgument {
  readonly value: (...args: unknown[]) => Promise<unknown>;
  #call: CallId | undefined;

  constructor(index: number, core: WorkerCore) {
    this.value = (...args) =>
      this.#call === undefined
        ? Promise.reject(new CallbackEndedError())
        : core.part(hostRequests).request(["callback", index], args, undefined, this.#call);
  }

  bind(slot: number, generation: number): void {
    this.#call = [slot, generation];
  }

  close(): void {
    this.#call = undefined;
  }
}
