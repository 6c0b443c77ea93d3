/** Which parts of the conformance suite run in a browser. */
export const FILES: readonly string[] =
  ("abort affinity backpressure balancers borrow broadcast call-options calls envelope errors first-calls " +
    "hard-timeout host-functions idle-timeout inliner map map-calls nested-work payload-limit payloads " +
    "pool-options priority promise-arguments recycling retries scheduling scope-joiners scopes setup shutdown stacks " +
    "streams streams-edges structs structured-clone teardown timeout transfer validation with work-stealing worker-death")
    .split(" ");

const SYNC =
  "a thread that waits for the host would get no answer: no host.sync, currentPool().sync, pool.sync";
const PROXIES = "nothing in a browser tells a proxy";
const CODES = "a worker has no process: no exit code, no handlers of errors, no environment";
const CONTEXTS =
  "no AsyncLocalStorage: with several calls at once, code after an await belongs to none";
const DEPTH = "stacks of web workers are smaller: about 700 levels";

/** Ends of the names of tests that do not, and why. Tests that use Node's modules skip themselves (`absent.ts`). */
export const LEFT_OUT: readonly (readonly [name: string, reason: string])[] = [
  ["a pool and its calls can be printed", "the pools' calls are no console output"],
  ["calls get results, by promise and with the thread", SYNC],
  ["calls come from many tasks of many workers at once", SYNC],
  ["calls take and return every kind of value", SYNC],
  ["errors keep their class", SYNC],
  ["errors of unknown names say what there is", SYNC],
  ["errors of values that cannot be cloned", SYNC],
  ["in the middle of askSyncAndWait leaves nothing behind", SYNC],
  ["values are refused with a code", SYNC],
  ["an async task runs in another worker", SYNC],
  ["an async task gets a worker that is started for it", SYNC],
  ["an async task throws DeadlockError if there is no other worker", SYNC],
  ["an async task throws DeadlockError if the budget of threads never has another worker", SYNC],
  ["pool.sync of tasks that call tasks", SYNC],
  ["pool.sync of a task that waits for the host is a deadlock, at once", SYNC],
  ["pool.sync while all workers wait for the host is a deadlock", SYNC],
  ["events belong to their own call", CONTEXTS],
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
  ["the event of its end has the error", CODES],
  ["the pool replaces an idle worker that exits", CODES],
  ["that the worker's own code handles are not reported", CODES],
  ["are printed unless a listener prevents it", CODES],
  ["worker.setup runs before the task modules, and its result is the context", CODES],
  ["the thread of a worker gets environment and arguments", CODES],
  ['{"setup":"setup.ts"} is refused', "a name is a URL relative to the page"],
];
