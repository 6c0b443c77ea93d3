/**
 * What things cost, in microseconds, and the machine they happen on. Every figure is a parameter; the
 * defaults are measured (docs/internals/measured-facts.md) unless they say "assumed".
 */
export interface Costs {
  /** Host: encode a call and commit it. */
  readonly submitUs: number;
  /** Worker: decode a call and answer it, beside running it. */
  readonly workerUs: number;
  /** Host: take an answer and settle it. */
  readonly settleUs: number;
  /** From commit to seen on the other core: half a cache line's round trip. */
  readonly handOverUs: number;
  /** Host: one look at one lane, while polling or choosing (assumed). */
  readonly lookUs: number;
  /** Host: copy a held call into a ring (assumed: half of encoding it). */
  readonly forwardUs: number;
  /** Host: take an unstarted call back (assumed). */
  readonly revokeUs: number;
  /** Waking a worker: the host's time, and from the start of that until the worker runs. */
  readonly wakeCallUs: number;
  readonly wakeSeenUs: number;
  /** Waking the host: the worker's time, and from the start of that until the host runs. */
  readonly postCallUs: number;
  readonly postSeenUs: number;
  /** A turn of the host's event loop shortly after another one, and after a millisecond or more. */
  readonly warmTurnUs: number;
  readonly coldTurnUs: number;
  /** Spinners look at the number of awake workers this often. */
  readonly spinCheckUs: number;
  /** What the operating system lets a thread run before another one that waits (Linux: about 3 ms). */
  readonly sliceUs: number;
}

/** The 2-core virtual machine within a virtual machine that the facts were measured on. */
export const NESTED_VM: Costs = {
  submitUs: 0.08,
  workerUs: 0.08,
  settleUs: 0.08,
  handOverUs: 0.054,
  lookUs: 0.003,
  forwardUs: 0.04,
  revokeUs: 0.1,
  wakeCallUs: 10,
  wakeSeenUs: 30,
  postCallUs: 10,
  postSeenUs: 38.5,
  warmTurnUs: 1.7,
  coldTurnUs: 14,
  spinCheckUs: 5,
  sliceUs: 3000,
};

/** The same code on bare metal: only waking is cheaper. */
export const BARE_METAL: Costs = {
  ...NESTED_VM,
  wakeCallUs: 3,
  wakeSeenUs: 8,
  postCallUs: 3,
  postSeenUs: 8,
};

export interface MachineShape {
  /** What the operating system shows, and `os.availableParallelism()` says. */
  readonly cores: number;
  /** Pairs of cores share a physical one: two busy threads there run 1.5 times slower each. */
  readonly isSmt?: boolean;
}

export const SMT_SLOWDOWN = 1.5;
