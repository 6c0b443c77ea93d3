/** Options of workers as Node takes them, checked by name and made those that heddle takes. */
import type { PoolOptions } from "heddle";
import type { Setup } from "./worker.ts";
import type { WorkerArg, WorkerPoolOptions } from "./types.ts";

/** Whether the workers of a pool are threads or processes. */
export type WorkerKind = "thread" | "process";

/** What a worker is made with. */
export interface HandlerOptions extends WorkerArg {
  /** Thread or process. */
  readonly kind: WorkerKind;
  /** Milliseconds that it has to end. */
  readonly workerTerminateTimeout: number;
  /** Whether what it prints becomes events. */
  readonly emitStdStreams: boolean;
  /** The port of `--inspect`, if this process has that flag. */
  readonly debugPort: number;
}

const FORK_OPTIONS = {
  // workerpool replaces `stdio`.
  taken: ["cwd", "env", "execPath", "execArgv", "serialization", "stdio"],
  refused: [
    "detached",
    "gid",
    "signal",
    "killSignal",
    "silent",
    "uid",
    "windowsVerbatimArguments",
    "timeout",
  ],
};
const THREAD_OPTIONS = {
  taken: ["argv", "env", "execArgv", "workerData", "resourceLimits", "name", "trackUnmanagedFds"],
  refused: ["eval", "stdin", "stdout", "stderr", "transferList"],
};

const LIMITS = [
  "maxOldGenerationSizeMb",
  "maxYoungGenerationSizeMb",
  "codeRangeSizeMb",
  "stackSizeMb",
] as const;

/** Only Node has flags and limits for threads, and flags of its own for processes. */
const isNode = !("deno" in process.versions || "bun" in process.versions);

/** The kind of the workers; throws for web workers, which only a browser has. */
export function kindOf({ workerType, nodeWorker }: WorkerPoolOptions): WorkerKind {
  const type = workerType || nodeWorker;
  if (type === "web") {
    throw new Error(
      'WorkerPool: Web Workers not supported. @heddle/workerpool has threads and processes: workerType "web" needs a browser.',
    );
  }
  return type === "process" ? "process" : "thread";
}

/** The options of heddle for one worker, and its setup. */
export function poolOptions(given: HandlerOptions): PoolOptions & { setup: Setup } {
  return {
    threads: 1,
    spinMs: 0, // tasks take milliseconds
    startTimeoutMs: Infinity,
    teardownTimeoutMs: given.workerTerminateTimeout,
    ...(given.kind === "process" ? processOptions(given) : threadOptions(given)),
  };
}

function threadOptions(given: HandlerOptions): PoolOptions & { setup: Setup } {
  const options = given.workerThreadOpts ?? {};
  check(options, THREAD_OPTIONS, "workerThreadOpts");
  const { argv, env, execArgv, workerData, resourceLimits, name } = options;
  const limits = Object.entries(resourceLimits ?? {}).filter(([limit, value]) =>
    value !== undefined && (LIMITS as readonly string[]).includes(limit)
  );
  return {
    setup: { script: given.script, workerData },
    worker: {
      name: name || "workerpool",
      ...(env != null && { env: typeof env === "symbol" ? env as never : textsOf(env) }),
      ...(argv != null && { argv: argv.map(String) }),
      ...(execArgv != null && isNode && { execArgv: execArgv.map(String) }),
    },
    ...(isNode && limits.length > 0 && { resourceLimits: Object.fromEntries(limits) }),
  };
}

function processOptions(given: HandlerOptions): PoolOptions & { setup: Setup } {
  const options = given.forkOpts ?? {};
  check(options, FORK_OPTIONS, "forkOpts");
  const { cwd, env, execPath, execArgv } = options;
  const flags = [...(execArgv ?? []), ...inheritedFlags(given.debugPort)];
  return {
    setup: { script: given.script, workerData: undefined },
    workers: "processes",
    process: { ...(cwd != null && { cwd }), ...(execPath != null && { execPath }) },
    worker: {
      ...(env != null && { env: textsOf(env) }),
      ...(given.forkArgs?.length && { argv: given.forkArgs.map(String) }),
      // Without own flags those of this process would be taken; on Deno they are its permissions.
      ...((isNode || flags.length > 0) && { execArgv: flags }),
    },
  };
}

/** The flags of this process that its children get: the size of the heap, and a debugger on a port of its own. */
function inheritedFlags(debugPort: number): string[] {
  if (!isNode) return [];
  const own = process.execArgv;
  const flags = own.filter((flag) => flag.includes("--max-old-space-size"));
  if (own.some((flag) => flag.includes("--inspect"))) flags.unshift(`--inspect=${debugPort}`);
  return flags;
}

const textsOf = (values: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );

/** Throws for options that workerpool does not know, that are inherited, or that heddle does not have. */
function check(
  options: object,
  { taken, refused }: { readonly taken: readonly string[]; readonly refused: readonly string[] },
  of: string,
): void {
  const names = Object.keys(options);
  const known = [...taken, ...refused];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`Object "${of}" contains an unknown option "${unknown}"`);
  }
  const inherited = known.find((name) =>
    Boolean((Object.prototype as Record<string, unknown>)[name]) && !names.includes(name)
  );
  if (inherited !== undefined) {
    throw new Error(
      `Object "${of}" contains an inherited option "${inherited}", which is not its own but of its prototype. ` +
        'Remove it from the prototype, or set it to "undefined".',
    );
  }
  const missing = refused.find((name) => (options as Record<string, unknown>)[name]);
  if (missing !== undefined) {
    throw new Error(
      `Object "${of}" contains the option "${missing}", which @heddle/workerpool does not have. It has ${
        taken.join(", ")
      }.`,
    );
  }
}
