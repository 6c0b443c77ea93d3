/** A record that views look at, and their common life. */
import type { Memory } from "../../memory/views.ts";
import { viewMemory } from "../../memory/views.ts";
import { Input } from "./input.ts";
import { LoanExpiredError } from "../../errors.ts";

const noMemory: Memory = viewMemory(new SharedArrayBuffer(0));

/** All views of one record share one of these; every access asks it for the memory. */
export class Source extends Input {
  #isExpired = false;

  /** Before an access: throws once revoked. What lies behind `end` may then be read from the tail. */
  open(end: number): this {
    if (this.#isExpired) throw new LoanExpiredError();
    this.end = end;
    return this;
  }

  /** From here on every access throws. The memory is let go. */
  revoke(): void {
    this.#isExpired = true;
    this.memory = noMemory;
  }
}

/** Makes the view, or the plain value, of one field from its address. */
export type Viewer = (source: Source, at: number) => unknown;
