/**
 * Threads of a browser: web workers. What they lack of a thread's handle is made here:
 *
 * - An event for the end. A worker that ends by itself says so by a message. The other ends are those by `terminate()`, which is
 *   replaced. Browsers kill no worker alone: where its memory is exhausted, they end its page.
 * - Exceptions that end a worker. Browsers report one and let the worker go on; here it ends, as on other runtimes.
 */
import { Error, JSON, Promise, URL } from "../../builtins.ts";
import { WorkerStartError } from "../../errors.ts";
import { macrotask, timers } from "./clock.ts";
import { NOWHERE } from "./modules.ts";
import type { HostRuntime, Timer } from "../runtime.ts";
import type { WorkerHandle } from "../worker-handle.ts";

/** From a worker: heddle is loaded in it, or it ends. */
export type LifeMessage = { readonly heddleBegun: true } | { readonly heddleExit: number };

function hasKey<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === "object" && value !== null && key in value;
}

/** Violations of the page's policy, which events of workers do not mention. */
const violations: string[] = [];
globalThis.document?.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
  violations.push(effectiveDirective);
});

/** Why a worker's script was not loaded, of which the browser tells `message` or nothing. */
async function explainStart(
  url: URL | undefined,
  newViolations: readonly string[],
  message: string,
): Promise<WorkerStartError> {
  const script = url === undefined
    ? "The script of a worker"
    : `The script of workers, ${url.href},`;
  const policy = newViolations.find((name) => /^(?:worker|script|child|default)-src/.test(name));
  let reason = message ||
    "the browser does not say why; it, or a module that it imports, may be missing or damaged";
  if (policy !== undefined) {
    reason =
      `the page's Content-Security-Policy forbids it (${policy}): it needs worker-src with its origin`;
  } else if (url !== undefined) {
    try {
      const { ok, status, headers, type: kind } = await fetch(url);
      const type = headers.get("content-type") ?? "none";
      if (!ok) reason = `the server answered ${status}`;
      else if (!/(?:java|ecma)script/.test(type)) {
        reason = `the server sends it with the type "${type}", and modules need text/javascript`;
      } else if (
        // Responses of other origins do not show it.
        kind === "basic" && globalThis.crossOriginIsolated &&
        !headers.has("cross-origin-embedder-policy")
      ) {
        reason = "it lacks the header Cross-Origin-Embedder-Policy, which its page has";
      }
    } catch (error) {
      reason = `it cannot be fetched (${String(error)})`;
    }
  }
  return new WorkerStartError(`${script} could not be loaded: ${reason}.`);
}

/** Time without a message after which a worker of the program's own may be one that does not call `serve`. */
const SILENT_MS = 5000;
const SILENT =
  "heddle: a worker that the program has started says nothing yet. Its script has to call serve(tasks) of " +
  "heddle/browser/worker.";
const warnIfSilent = (): Timer => timers.setTimeout(() => console.warn(SILENT), SILENT_MS);

function createHandle(worker: Worker, url: URL | undefined, blob?: string): WorkerHandle {
  const earlier = violations.length;
  const terminate = worker.terminate.bind(worker);
  let hasBegun = false;
  let isOver = false;
  let onError = (_error: unknown): void => {};
  let onExit = (_exitCode: number | undefined): void => {};
  let onEnd = (): void => {};
  const ended = new Promise<void>((resolve) => onEnd = resolve);
  const listeners: ((message: unknown) => void)[] = [];
  const end = (exitCode: number | undefined): void => {
    if (isOver) return;
    isOver = true;
    warning?.clear();
    terminate();
    if (blob !== undefined) URL.revokeObjectURL(blob);
    // Messages that it posted to its ports before its end wait in this event loop: their events come before these two turns.
    macrotask(() =>
      macrotask(() => {
        onEnd();
        onExit(exitCode);
      })
    );
  };
  const warning = url === undefined ? warnIfSilent() : undefined;
  worker.terminate = () => end(undefined); // by the program: a worker says nothing of that
  worker.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    hasBegun = true;
    warning?.clear();
    if (hasKey(data, "heddleExit")) end(data.heddleExit as number);
    else if (!isOver && !hasKey(data, "heddleBegun")) {
      listeners.forEach((listener) => listener(data));
    }
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    if (isOver) return;
    if (!hasBegun && (!event.message || blob !== undefined)) {
      void explainStart(url, violations.slice(earlier), event.message).then((error) => {
        onError(error);
        end(undefined);
      });
      return;
    }
    onError((event.error as unknown) ?? new Error(event.message));
    end(1);
  });
  return {
    post: (message, transfer) => worker.postMessage(message, (transfer ?? []) as Transferable[]),
    onMessage: (listener) => void listeners.push(listener),
    onError: (listener) => void (onError = listener),
    onExit: (listener) => void (onExit = listener),
    ref: () => {}, // a page stays open anyway
    unref: () => {},
    terminate: async () => {
      end(1);
      await ended;
    },
  };
}

/**
 * Scripts of other origins can be imported, but no worker may start with one. By `import()`, since documents without an origin
 * (sandboxed frames) start no module of a `blob:` URL. Messages that come before the script is loaded are dispatched again then.
 */
function foreignWorker(url: URL): WorkerHandle {
  const source = `const early = [];
onmessage = (event) => early.push(event);
import(${JSON.stringify(url.href)}).then(() => {
  onmessage = null;
  early.forEach((event) => dispatchEvent(event));
}, (error) => setTimeout(() => { throw error; }));`;
  const blob = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  return createHandle(new Worker(blob), url, blob);
}

function givenWorker(worker: unknown): WorkerHandle {
  if (typeof (worker as Partial<Worker> | undefined)?.terminate !== "function") {
    const what = Object.prototype.toString.call(worker);
    throw new WorkerStartError(`the given function has to return a Worker, and returned ${what}.`);
  }
  return createHandle(worker as Worker, undefined);
}

export const spawnWorker: HostRuntime["spawnWorker"] = (entry, _name, _limits, _files, thread) => {
  const refused = (["env", "argv"] as const).filter((name) => thread[name] !== undefined);
  if (refused.length > 0) {
    throw new WorkerStartError(
      `Workers of a browser have no ${refused.join(" and no ")} (option worker).`,
    );
  }
  const { create, url } = entry;
  if (create !== undefined) return givenWorker(create());
  if (url === NOWHERE) {
    throw new WorkerStartError(
      "heddle does not know where its script of workers is, since its bundle has no import.meta.url. Give createPool() a " +
        "function that starts a worker, in place of a URL.",
    );
  }
  // Browsers differ in whether a worker with a script of another origin throws or has an error later.
  if (url.origin !== globalThis.origin) return foreignWorker(url);
  return createHandle(new Worker(url, { type: "module" }), url);
};
