/** Arguments that live as long as their call: streams, and functions of the host. Features make what the task gets. */
import { Map } from "../../builtins.ts";
import { ProtocolError } from "../../errors.ts";
import { keyOf } from "../../protocol/call-key.ts";
import { seams } from "../feature.ts";
import type { HeldArgument } from "../task.ts";
import type { WorkerCore } from "../worker-core.ts";

export class HeldArguments {
  readonly #core: WorkerCore;
  /** Whether there are any among the arguments that were read last. Only this class writes it. */
  hasOpened = false;
  /** Of the arguments that are being read. */
  #opened: HeldArgument[] = [];
  /** By call, in the order of the arguments. */
  readonly #calls = new Map<number, readonly HeldArgument[]>();

  constructor(core: WorkerCore) {
    this.#core = core;
  }

  /** Creates what the task gets in the place of argument `index` of this kind. */
  open(index: number, kind: number): object {
    const make = seams.held[kind];
    if (make === undefined) throw new ProtocolError(`An argument of kind ${kind}.`);
    const opened = make(index, this.#core);
    this.#opened.push(opened);
    this.hasOpened = true;
    return opened.value;
  }

  /** Whether a running call has any. */
  get isOpen(): boolean {
    return this.#calls.size > 0;
  }

  /** Those of a running call. */
  of(slot: number, generation: number): readonly HeldArgument[] {
    return this.#calls.get(keyOf(slot, generation)) ?? [];
  }

  /** The arguments that were read last belong to this call. */
  bind(slot: number, generation: number): void {
    for (const argument of this.#opened) argument.bind(slot, generation);
    this.#calls.set(keyOf(slot, generation), this.#opened);
    this.forget();
  }

  /** The next arguments are read, or these could not be read. */
  forget(): void {
    this.#opened = [];
    this.hasOpened = false;
  }

  /** The call is over. */
  close(slot: number, generation: number): void {
    for (const argument of this.of(slot, generation)) argument.close();
    this.#calls.delete(keyOf(slot, generation));
  }
}
