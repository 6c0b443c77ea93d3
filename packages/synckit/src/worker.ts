/** What a worker of heddle runs: it loads the script of the user, which calls `runAsWorker`, and calls that function. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { overrideStdio } from "./helpers.ts";
import { REGISTER, type Register, type Reply, type WorkerSetup } from "./protocol.ts";
import type { AnyFn, StdioChunk } from "./types.ts";

/** Time within which a script that has been loaded calls `runAsWorker`. */
const REGISTER_MS = 60_000;

/** On Deno and Bun a thread writes to the descriptors of its process. */
const isNode = !("Deno" in globalThis || "Bun" in globalThis);

const stdio: StdioChunk[] = [];
const registered = Promise.withResolvers<AnyFn>();
/** Ends the calls that run with an error. */
const running = new Set<(error: unknown, isFatal: boolean) => void>();
let setup: WorkerSetup;
let fn: AnyFn | undefined;
let loading: Promise<unknown> | undefined;
/** An error outside of calls, for the next one. */
let failure: readonly [unknown] | undefined;

/** Called before the first task. The script is loaded later: while heddle loads modules, it takes a pool that they create for a mistake. */
export default function setUp(given: WorkerSetup): void {
  setup = given;
  const register: Register = (given) => {
    if (fn !== undefined) return;
    fn = given;
    if (isNode) overrideStdio(stdio);
    registered.resolve(given);
  };
  Object.assign(globalThis, { [REGISTER]: register });
  handleErrors();
  setTimeout(() => load(), 0);
}

function handleErrors(): void {
  const events = ["uncaughtException", "unhandledRejection"] as const;
  for (const event of events) {
    const own = process.listenerCount(event) + 1;
    process.on(event, (error: unknown) => fail(error, process.listenerCount(event) > own));
  }
  // Before heddle tells the host.
  process.prependListener("exit", (code) => {
    Atomics.store(setup.exitCode, 0, code);
  });
}

/** An error that no call has caught. Unless the script handles those, the call that gets it is the last one of this worker. */
function fail(error: unknown, isHandled: boolean): void {
  // Also if calls run: the host may have given them up.
  if (!isHandled) failure ??= [error];
  for (const end of running) end(error, !isHandled);
}

function load(): Promise<unknown> {
  if (loading !== undefined) return loading;
  loading = loadScript();
  loading.catch((error: unknown) => {
    if (fn !== undefined) fail(error, false);
  });
  return loading;
}

async function loadScript(): Promise<void> {
  const { path, isModule, globals } = setup;
  const require = createRequire(path);
  // In base64: Bun reads no others.
  const url = `data:text/javascript;base64,${Buffer.from(globals).toString("base64")}`;
  if (globals !== "" && isModule) await import(url);
  else if (globals !== "") new Function("require", globals)(require);
  try {
    if (!isModule) return require(path);
  } catch (error) {
    if ((error as { readonly code?: string } | null)?.code !== "ERR_REQUIRE_ASYNC_MODULE") {
      throw error;
    }
  }
  await import(pathToFileURL(path).href);
}

async function notRegistered(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, REGISTER_MS).unref());
  throw new Error(`${setup.path} has not called runAsWorker() within ${REGISTER_MS} ms`);
}

/** Calls the function of the script. */
export function run(args: readonly unknown[]): Promise<Reply> {
  return new Promise((resolve) => {
    const end = (...reply: Reply): void => {
      running.delete(endWith);
      resolve(reply);
    };
    const endWith = (error: unknown, isFatal: boolean): void =>
      end(undefined, takeOutput(), { error, isFatal });
    running.add(endWith);
    if (failure !== undefined) return endWith(failure[0], true);
    call(args).then((result) => end(result, takeOutput()), (error) => endWith(error, false));
  });
}

async function call(args: readonly unknown[]): Promise<unknown> {
  const called = fn ?? await Promise.race([registered.promise, load().then(notRegistered)]);
  return called(...args);
}

const takeOutput = (): readonly StdioChunk[] | undefined =>
  stdio.length === 0 ? undefined : stdio.splice(0);
