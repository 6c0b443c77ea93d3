/** A way to send any value to one worker and get it back: what the payload scenarios compare. */
import type { PayloadKind, Route } from "../payloads/payload.ts";

export type Echo = (value: unknown) => Promise<unknown>;

export interface EchoCalls {
  readonly echo: Echo;
  close(): Promise<unknown>;
}

export interface EchoContender {
  readonly name: string;
  /** Why it leaves out this kind, or undefined. */
  refuses(kind: PayloadKind): string | undefined;
  /** Starts a worker for payloads that travel by this route. */
  start(route: Route): Promise<EchoCalls>;
}
