/** Names of what `concurrency` measures: runs, tables and charts tell them apart. */

/** The two tables: tasks that only wait for the server, and tasks that compute after each response. */
export const WAITING = "waiting";
export const COMPUTING = "computing";
export type ConcurrencyTable = typeof WAITING | typeof COMPUTING;

export const WALL = "wall time";
export const PEAK = "peak resident memory";
export const PER_TASK = "memory per task";
export const FAILED = "failed requests";
export const START = "start of the pool";
export const PROCESSOR = "processor use";

/** Figures of each table in their order. */
export const FIGURES_OF = {
  [WAITING]: [WALL, PEAK, PER_TASK, FAILED, START],
  [COMPUTING]: [WALL, PROCESSOR, FAILED],
} as const satisfies Record<ConcurrencyTable, readonly string[]>;

export const caseOf = (table: ConcurrencyTable, figure: string): string =>
  table === WAITING ? figure : `${table}: ${figure}`;

export const PLAIN = "plain async";
export const THREADS = "thread per task";
export const GO = "Go goroutines";
export const PYTHON = "Python threads";

/** Tasks at once. */
export const TASK_COUNTS = [100, 500, 1000] as const;
/** A quick run has these only. */
export const QUICK_TASK_COUNTS = [5] as const;
export const COMPUTING_TASKS = 100;
export const QUICK_COMPUTING_TASKS = 5;

/** Requests of a task, one after the other. */
export const REQUESTS = 5;
export const WORK_MS = 10;
/** When tasks compute, the server's delay is divided by this: the work takes longer than the waiting. */
export const COMPUTING_DELAY_DIVISOR = 10;

export const heddleWith = (threads: number): string =>
  `heddle, ${threads} ${threads === 1 ? "thread" : "threads"}`;
