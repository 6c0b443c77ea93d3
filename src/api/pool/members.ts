/** Members of a pool that features add: `pool.map`, `pool.stats`. A pool without the feature has no such member. */
import type { CallProxy } from "../calls/call-proxy.ts";
import type { CallSink } from "../options/resolved-options.ts";
import type { CallEntry } from "../../host/dispatch/call-entry.ts";
import type { PoolSpec } from "../tasks/pool-spec.ts";
import type { PoolParts } from "./parts.ts";

/** The core of a pool, as members of its handle see it. */
interface Core extends PoolParts {
  readonly entry: CallEntry;
  readonly isClosing: boolean;
  readonly isLearning: boolean;
}

/** A pool as its members see it. The handle keeps it, and it keeps the handle. */
export interface PoolAccess {
  /** The handle. */
  readonly pool: EventTarget;
  readonly call: CallProxy;
  readonly spec: PoolSpec;
  readonly core: Core;
  /** Where calls are made. */
  readonly entry: CallSink;
  /** Whether the tasks are known. */
  readonly isKnown: () => boolean;
  /** Run when the pool begins to close. */
  readonly onShutdown: (() => void)[];
  /** What `make` has made for this pool under this name: it is called once. */
  keep<Part>(name: string, make: () => Part): Part;
}

/** Gives the value of a member each time it is read. */
export type Member = (access: PoolAccess) => unknown;

/** What a feature adds to pools. */
export interface MemberFeature {
  readonly name: string;
  /** Members of the handle, by name. Methods are values, so that they survive destructuring. */
  readonly members?: Readonly<Record<string, Member>>;
}

/** By name. */
export const members: Record<string, Member> = Object.create(null);
