/** Which parts of the conformance suite run with other workers than threads that share memory (`HEDDLE_TEST_WORKERS`). */

export type Kind = "messages" | "processes" | "host";

const FILES: Readonly<Record<Kind, string>> = {
  messages:
    "abort argument-streams calls errors host-functions map payloads promise-arguments retries scopes shared-channels shutdown " +
    "streams structs structured-clone timeout transfer with worker-death",
  processes:
    "argument-streams broadcast calls errors map payloads process-workers promise-arguments setup " +
    "streams structs structured-clone with",
  host:
    "argument-streams calls errors map payloads promise-arguments structs structured-clone with",
};

const SYNC =
  "a thread that waits for the host would get no answer: no host.sync, currentPool().sync, pool.sync";
const POLLED =
  "no word tells a task of its abort: it has to return to its event loop to get the message";
const BUSY = "a host that does not return to its event loop sends nothing";
const SENT = "a call that was sent cannot be taken back while its worker lives";
const SHARED = "test and task observe each other by shared memory";
const NOT_COPIED = "only a thread can get it";
const MOVED = "nothing moves to another process";
const A_THREAD = "it asks for what only threads have";

const ON_HOST = "the host would wait for itself";
const NO_OTHER = "there is one worker, and it does not end before its host";
const KNOWN = "the host has the function, so no module is imported for it";

const OF_BOTH: readonly (readonly [name: string, reason: string])[] = [
  ["take as many arguments as a function of the runtime does", SYNC],
];

/** Parts of the names of tests that do not, and why. */
const LEFT_OUT: Readonly<Record<Kind, readonly (readonly [name: string, reason: string])[]>> = {
  messages: [
    ...OF_BOTH,
    ["calls > get results, by promise and with the thread", SYNC],
    ["calls > come from many tasks of many workers at once", SYNC],
    ["calls > take and return every kind of value", SYNC],
    ["errors > keep their class", SYNC],
    ["errors > of unknown names say what there is", SYNC],
    ["errors > of values that cannot be cloned", SYNC],
    ["in the middle of askSyncAndWait leaves nothing behind", SYNC],
    ["other calls run elsewhere while a worker waits with its thread", SYNC],
    ["in an answer before it dies", SYNC],
    ["in an answer after its death", SYNC],
    ["of every kind and size, around the end of the ring, blocking on both sides", BUSY],
    ["a scope is cancelled > by an error of its function", POLLED],
    ["a synchronous task sees the abort immediately, and the caller does not wait for it", POLLED],
    ["keeps its reason, or has an AbortError; later aborts change nothing", POLLED],
    ["is stopped after twice the hard timeout, and its queued calls run elsewhere", SENT],
    ["aborts the signals of running tasks", POLLED],
    ["results that wait for space are detached from their task", BUSY],
    ["does not reject calls whose response arrived while the host was busy", BUSY],
  ],
  processes: [
    ...OF_BOTH,
    ["Blob", NOT_COPIED],
    ["is shared at every nesting depth", NOT_COPIED],
    ["arrives as the same object if sent twice", NOT_COPIED],
    ["keeps the offsets of its views", NOT_COPIED],
    ["grows on both sides", NOT_COPIED],
    ["a compiled WebAssembly module arrives", NOT_COPIED],
    ["a KeyObject with own properties arrives as a KeyObject", NOT_COPIED],
    ["keys arrive if structuredClone accepts them", NOT_COPIED],
    ["a SharedArrayBuffer is shared, not copied", NOT_COPIED],
    ["a CryptoKey arrives as the first value of a worker", NOT_COPIED],
    ["views in the list of what moves stand for their buffers", MOVED],
    ["what cannot move is refused with its place", MOVED],
    ["a stream that was opened for an aborted call is ended", SHARED],
    ["are ended by shutdown(), however long it may wait, with their tasks", SHARED],
    ["calls settle in the order in which their tasks finish", SHARED],
    ["that is sticky and fails in a new worker ends that worker", SHARED],
    ["runs before the task modules, and its result is the context", A_THREAD],
    ["refuses flags that a thread cannot have by a coded error", A_THREAD],
  ],
  host: [
    ["take as many arguments as a function of the runtime does", ON_HOST],
    ["sources that fail end no process, whatever the call does with them", NO_OTHER],
    ["an early call with a source is not repeated when its worker is lost", NO_OTHER],
    ["the statistics match the calls made", NO_OTHER],
    ["methods of a pool survive destructuring, also if the pool is closed", NO_OTHER],
    ["a broadcast's options are merged too", NO_OTHER],
    ["ready rejects for a", KNOWN],
    ["a call rejects if its module does not exist", KNOWN],
    ["createPool throws for options", "the environment says the number of threads"],
  ],
};

export const filesOf = (kind: Kind): readonly string[] => FILES[kind].split(" ");

export const leftOutOf = (kind: Kind): readonly (readonly [name: string, reason: string])[] =>
  LEFT_OUT[kind];
