/** Which parts of the conformance suite run in a browser. */
const BOTH: readonly string[] =
  ("abort broadcast calls errors hard-timeout host-functions map nested-work objects objects-together payloads " +
    "promise-arguments retries scopes shutdown streams structs structured-clone timeout transfer with worker-death")
    .split(" ");

/** What depends on the transport less. Other files ask for what the host does by itself, the same code as elsewhere. */
const SHARED: readonly string[] =
  ("affinity backpressure borrow core first-calls scheduling scope-joiners setup streams-edges teardown work-stealing")
    .split(" ");

export const filesOf = (isShared: boolean): readonly string[] =>
  isShared ? [...BOTH, ...SHARED] : BOTH;

const SYNC =
  "a thread that waits for the host would get no answer: no host.sync, currentPool().sync, pool.sync";
const PROXIES = "nothing in a browser tells a proxy";
const CODES = "a worker has no process: no exit code, no handlers of errors, no environment";
const CONTEXTS =
  "no AsyncLocalStorage: with several calls at once, code after an await belongs to none";
const DEPTH = "stacks of web workers are smaller: about 700 levels";

const SENT =
  "a call that was sent cannot be taken back: it waits behind the one before, or is lost with its worker";
const POLLED =
  "no word tells a task of its abort: it has to return to its event loop to get the message";
const BUSY = "a host that does not return to its event loop sends nothing";

/** The same, without shared memory. */
const LEFT_OUT_OF_MESSAGES: readonly (readonly [name: string, reason: string])[] = [
  ["is stopped after twice the hard timeout, and its queued calls run elsewhere", SENT],
  ["a scope is cancelled > by an error of its function", POLLED],
  ["aborts the signals of running tasks", POLLED],
  ["a synchronous task sees the abort immediately, and the caller does not wait for it", POLLED],
  ["keeps its reason, or has an AbortError; later aborts change nothing", POLLED],
  ["does not reject calls whose response arrived while the host was busy", BUSY],
  ["an object in a worker > does not count as a call of a task", "metrics need shared memory"],
  ["results that wait for space are detached from their task", BUSY],
];

/** Parts of the names of tests that do not, and why. Tests that use Node's modules skip themselves (`absent.ts`). */
const LEFT_OUT: readonly (readonly [name: string, reason: string])[] = [
  ["sync: calls that block", SYNC],
  ["a pool and its calls can be printed", "the pools' calls are no console output"],
  ["calls > get results, by promise and with the thread", SYNC],
  ["calls > come from many tasks of many workers at once", SYNC],
  ["calls > take and return every kind of value", SYNC],
  ["calls > take as many arguments as a function of the runtime does", DEPTH],
  ["callbacks > take as many arguments as a call does", DEPTH],
  ["errors > keep their class", SYNC],
  ["errors > of unknown names say what there is", SYNC],
  ["errors > of values that cannot be cloned", SYNC],
  ["in the middle of askSyncAndWait leaves nothing behind", SYNC],
  ["values > are refused with a code", SYNC],
  ["an async task runs in another worker", SYNC],
  ["an async task gets a worker that is started for it", SYNC],
  ["an async task throws DeadlockError if there is no other worker", SYNC],
  ["an async task gets a worker beyond the budget of threads", SYNC],
  ["pool.sync > of tasks that call tasks", SYNC],
  ["pool.sync > of a task that waits for the host is a deadlock, at once", SYNC],
  ["pool.sync > while all workers wait for the host is a deadlock", SYNC],
  ["events > belong to their own call", CONTEXTS],
  ["Proxy of an object", PROXIES],
  ["Proxy of an array", PROXIES],
  ["revoked Proxy", PROXIES],
  ["a Proxy as a prototype runs no traps", PROXIES],
  ["a Proxy runs no traps", PROXIES],
  ["typed arrays beside Buffers keep their type", "a browser has no Buffer"],
  ["100 and 1,000 levels deep arrive", DEPTH],
  [
    "process.exit in a task rejects the worker's calls, and a replacement takes the next call",
    CODES,
  ],
  ["an object in a worker > can be printed", "pages print objects themselves"],
  ["a handle as an argument > works while the host blocks", SYNC],
  ["an object that is made again > while the host blocks", SYNC],
  ['in workers of other kinds: {"workers":"processes"}', "a browser has no processes"],
  ["the event of its end has the error", CODES],
  ["the pool replaces an idle worker that exits", CODES],
  ["that the worker's own code handles are not reported", CODES],
  ["are printed unless a listener prevents it", CODES],
  ["worker.setup > runs before the task modules, and its result is the context", CODES],
  ["the thread of a worker > gets environment and arguments", CODES],
  ['{"setup":"setup.ts"} is refused', "a name is a URL relative to the page"],
];

export const leftOutOf = (
  isShared: boolean,
): readonly (readonly [name: string, reason: string])[] =>
  isShared ? LEFT_OUT : [...LEFT_OUT, ...LEFT_OUT_OF_MESSAGES];
