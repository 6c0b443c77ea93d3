/** How many calls may wait on the host: what the queue asks before and after each one that waits. */
export interface QueueBound {
  /** Calls refused so far. */
  readonly refused: number;
  /** Whether producers should wait for the drain event. */
  readonly needsDrain: boolean;
  /** Whether calls beyond a number are refused. */
  readonly mayRefuse: boolean;
  /** Whether no further call may wait beside `queued` others. */
  isFull(queued: number): boolean;
  /** Throws QueueFullError if no further call may wait beside `queued` others. */
  admit(queued: number): void;
  /** A call waits; `queued` is the new number. */
  onGrown(queued: number): void;
  /** Some calls no longer wait; `queued` is the new number. */
  onShrunk(queued: number): void;
}

/** Any number of calls may wait. */
export const UNBOUNDED: QueueBound = {
  refused: 0,
  needsDrain: false,
  mayRefuse: false,
  isFull: () => false,
  admit: () => {},
  onGrown: () => {},
  onShrunk: () => {},
};
