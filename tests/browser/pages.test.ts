/** What pages do to pools: policies, missing files, frozen tabs, workers that they end. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  callback as Callback,
  createPool as CreatePool,
  PoolOptions,
} from "../../src/mod-browser.ts";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { inFolder, root } from "../support/package.ts";
import { type Answer, ISOLATED, openPage, pageOf } from "./pages.ts";

declare global {
  // In the pages.
  var createPool: typeof CreatePool;
  var callback: typeof Callback;
}

interface Tasks {
  add(a: number, b: number): number;
  echo<Value>(value: Value): Value;
  later(ms: number): Promise<number>;
  spin(ms: number): number;
  until(signal?: AbortSignal): Promise<number>;
  progress(name: string): Promise<string>;
  ask(callback: () => Promise<unknown>): Promise<unknown>;
}

let browser: Browser;
let folder = "";
let remove = (): void => {};

beforeAll(async () => {
  if (hasBrowser) browser = await launchBrowser();
  await new Promise<void>((ready) =>
    void inFolder(async (made) => {
      folder = made;
      cpSync(join(root, "dist/browser"), join(folder, "heddle"), { recursive: true });
      const tasks = "export const add = (a, b) => a + b, echo = (value) => value;\n" +
        "export const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms, ms));\n" +
        "export const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end;); };\n";
      const others = 'import { emit, task } from "/heddle/task.js";\n' +
        "export const until = task({ abortSignal: true, f: async (signal) => {\n" +
        "  const startMs = performance.now();\n" +
        "  while (!signal.aborted && performance.now() - startMs < 5000) await later(5);\n" +
        "  return performance.now() - startMs; } });\n" +
        "export const ask = (callback) => callback();\n" +
        "export async function progress(name) {\n" +
        "  for (let n = 0; n < 4; n++) { emit(name + n); await later(3); }\n" +
        "  return name; }\n";
      writeFileSync(join(folder, "tasks.js"), others + tasks);
      writeFileSync(
        join(folder, "page.js"),
        'Object.assign(globalThis, await import("/heddle/mod.js"));\n',
      );
      writeFileSync(join(folder, "index.html"), pageOf("/page.js"));
      ready();
      await new Promise<void>((done) => remove = done);
    })
  );
});
afterAll(async () => {
  await browser?.close();
  remove();
});

/** Opens the page, served with these headers. */
function inPage<Result>(
  headers: Readonly<Record<string, string>>,
  use: (page: Page) => Promise<Result>,
  answer?: Answer,
): Promise<Result> {
  return openPage(browser, { folder, headers, answer }, async (page) => {
    await page.waitForFunction("globalThis.createPool !== undefined");
    return await use(page);
  });
}

/** The outcome of a first call in a page. */
const firstCall = (page: Page, options: PoolOptions = {}): Promise<unknown> =>
  page.evaluate(async (options) => {
    try {
      const pool = createPool({ threads: 1, ...options })<Tasks>(
        new URL("/tasks.js", location.href),
      );
      return await pool.call.add(1, 2);
    } catch (error) {
      const { code, message } = error as { code: unknown; message: unknown };
      return { code, message };
    }
  }, options);

const START = "HEDDLE_WORKER_START";
const INVALID = "HEDDLE_INVALID_ARGUMENT";

describe.runIf(hasBrowser)("options", () => {
  test.each(
    [
      [{ transport: "shared" }, INVALID, /cross-origin isolated.*Cross-Origin-Opener-Policy/],
      [{ metrics: true }, INVALID, /needs memory that threads share/],
      [{ maxWorkerBytes: 1e9 }, INVALID, /browsers do not tell the memory/],
      [{ minFreeMemory: 1e9 }, INVALID, /browsers do not tell it/],
      [{ resourceLimits: { stackSizeMb: 1 } }, INVALID, /browsers take no resourceLimits/],
      [{ permission: {} }, INVALID, /browsers cannot deny/],
      [{ worker: { env: { A: "1" } } }, START, /have no env/],
    ] as readonly (readonly [PoolOptions, string, RegExp])[],
  )(
    "%j cannot be met where memory is not shared",
    (options, code, message) =>
      inPage({}, async (page) => {
        expect(await firstCall(page, options)).toEqual({
          code,
          message: expect.stringMatching(message),
        });
        expect(await firstCall(page)).toBe(3);
      }),
  );

  test("pool.sync is refused", () =>
    inPage(ISOLATED, async (page) => {
      const message = await page.evaluate(() => {
        const pool = createPool({ threads: 1 })<Tasks>(new URL("/tasks.js", location.href));
        try {
          return pool.sync.add(1, 2);
        } catch (error) {
          return (error as Error).message;
        }
      });
      expect(message).toMatch(/not for browsers/);
    }));
});

describe.runIf(hasBrowser)("a script of workers that is not loaded", () => {
  const forWorker =
    (respond: (response: Parameters<Answer>[1]) => void): Answer => (request, response) => {
      if (request.url !== "/heddle/worker.js") return false;
      respond(response);
      return true;
    };

  test.each<readonly [string, Readonly<Record<string, string>>, Answer | undefined, RegExp]>([
    ["missing", {}, forWorker((response) => response.writeHead(404).end()), /server answered 404/],
    [
      "of a wrong type",
      {},
      forWorker((response) => response.setHeader("Content-Type", "text/html").end("")),
      /type "text\/html", and modules need text\/javascript/,
    ],
    [
      "forbidden by the page's policy",
      { "Content-Security-Policy": "worker-src 'none'" },
      undefined,
      /Content-Security-Policy forbids it \(worker-src\)/,
    ],
    [
      "without the header of its page",
      ISOLATED,
      forWorker((response) => {
        response.removeHeader("Cross-Origin-Embedder-Policy");
        response.setHeader("Content-Type", "text/javascript").end("");
      }),
      /lacks the header Cross-Origin-Embedder-Policy/,
    ],
  ])("%s", (_, headers, answer, message) =>
    inPage(headers, async (page) => {
      const error = await firstCall(page);
      expect(error).toEqual({ code: START, message: expect.stringMatching(message) });
    }, answer));

  test("a missing module of tasks is named", () =>
    inPage({}, async (page) => {
      const message = await page.evaluate(() =>
        createPool({ threads: 1 })(new URL("/nowhere.js", location.href)).ready
          .then(() => "ready", (error: Error) => error.message)
      );
      expect(message).toMatch(/nowhere\.js failed to load/);
    }));
});

describe.runIf(hasBrowser).each(
  [
    ["shared", ISOLATED],
    ["messages", {}],
  ] as readonly (readonly [string, Readonly<Record<string, string>>])[],
)("%s", (_, headers) => {
  // The events of a tab that is frozen and thaws, which headless Chromium does not send.
  test("time in which a tab is frozen does not count for limits", () =>
    inPage(headers, async (page) => {
      const [outcomes, elapsedMs] = await page.evaluate(async () => {
        const pool = createPool({ threads: 2 })<Tasks>(new URL("/tasks.js", location.href));
        await pool.ready;
        const limited = pool.call.later.with({ timeoutMs: 1000 });
        const startMs = performance.now();
        const outcomes = Promise.all(
          [300, 500, 60_000].map((ms) => limited(ms).catch(({ code }: { code: string }) => code)),
        );
        await new Promise((resolve) => setTimeout(resolve, 50));
        document.dispatchEvent(new Event("freeze"));
        for (const end = performance.now() + 2000; performance.now() < end;);
        document.dispatchEvent(new Event("resume"));
        return [await outcomes, performance.now() - startMs] as const;
      });
      expect(outcomes).toEqual([300, 500, "HEDDLE_TIMEOUT"]);
      expect(elapsedMs).toBeGreaterThanOrEqual(3000);
    }));

  test("workers that the page ends are noticed and replaced, and every call settles once", () =>
    inPage(headers, async (page) => {
      const seen = await page.evaluate(async () => {
        const workers: Worker[] = [];
        const Original = Worker;
        globalThis.Worker = class extends Original {
          constructor(...args: ConstructorParameters<typeof Worker>) {
            super(...args);
            workers.push(this);
          }
        };
        const pool = createPool({ threads: 2 })<Tasks>(new URL("/tasks.js", location.href));
        await pool.ready;
        let [settled, right, lost] = [0, 0, 0];
        for (let round = 0; round < 12; round++) {
          const calls = Array.from(
            { length: 60 },
            (_, n) =>
              (n % 3 === 0 ? pool.call.later(n % 7) : pool.call.echo(n)).then(
                (value) => {
                  settled++;
                  if (value === (n % 3 === 0 ? n % 7 : n)) right++;
                },
                ({ code }: { code: string }) => {
                  settled++;
                  if (code === "HEDDLE_WORKER_LOST") lost++;
                },
              ),
          );
          await new Promise((resolve) => setTimeout(resolve, round % 4));
          workers[workers.length - 1 - round % 2]!.terminate(); // says nothing
          await Promise.all(calls);
          await pool.call.add(1, 2);
        }
        await pool.shutdown();
        const { inFlight, safetyHits } = pool.stats();
        return { settled, isAll: right + lost === settled, inFlight, safetyHits };
      });
      expect(seen).toEqual({ settled: 720, isAll: true, inFlight: 0, safetyHits: 0 });
    }));

  test("an abort ends a call behind another, whether it was sent or not", () =>
    inPage(headers, async (page) => {
      const outcome = await page.evaluate(async () => {
        const url = new URL("/tasks.js", location.href);
        const pool = createPool({ threads: 1, maxConcurrency: 1 })<Tasks>(url);
        await pool.call.later(1);
        const first = pool.call.later(200);
        const controller = new AbortController();
        const aborted = pool.call.until.with({ signal: controller.signal })().catch(() =>
          "aborted"
        );
        setTimeout(() => controller.abort(), 50);
        const next = pool.call.add(1, 2);
        const startMs = performance.now();
        const results = [await first, await aborted, await next];
        return [results, performance.now() - startMs < 3000]; // without it, 5 seconds
      });
      expect(outcome).toEqual([[200, "aborted", 3], true]);
    }));

  test("limits of run time count from the beginning of a call", () =>
    inPage(headers, async (page) => {
      const results = await page.evaluate(async () => {
        const url = new URL("/tasks.js", location.href);
        const pool = createPool({ threads: 1, maxConcurrency: 1 })<Tasks>(url);
        await pool.call.later(1);
        const call = pool.call.later.with({ runTimeoutMs: 900 });
        return await Promise.all(
          [500, 500, 500].map((ms) => call(ms).catch((error) => String(error))),
        );
      });
      expect(results).toEqual([500, 500, 500]);
    }));

  test("events belong to their own call, or to none", () =>
    inPage(headers, async (page) => {
      const events = await page.evaluate(async () => {
        const pool = createPool({ threads: 1 })<Tasks>(new URL("/tasks.js", location.href));
        const events: unknown[] = [];
        const watched = pool.call.progress.with({ onEvent: (event) => void events.push(event) });
        await Promise.all([watched("A"), pool.call.progress("B")]);
        const together = events.splice(0);
        await watched("C");
        return [together, events];
      });
      const [together, alone] = events as [string[], string[]];
      expect(together.filter((event) => !event.startsWith("A"))).toEqual([]);
      expect(alone).toEqual(["C0", "C1", "C2", "C3"]);
    }));

  test("calls with moved bytes reach workers whose tasks wait for the page", () =>
    inPage(headers, async (page) => {
      const results = await page.evaluate(async () => {
        const url = new URL("/tasks.js", location.href);
        const pool = createPool({ threads: 2, maxConcurrency: 1 })<Tasks>(url);
        await pool.ready;
        const nested = async (): Promise<number> => {
          await new Promise((resolve) => setTimeout(resolve, 100));
          const bytes = new Uint8Array(300_000);
          const sent = pool.call.echo.with({ transfer: [bytes.buffer] })(bytes) as Promise<
            Uint8Array
          >;
          return (await sent).length;
        };
        const calls = [0, 1].map(() => pool.call.ask(callback(nested) as never));
        const late = new Promise((resolve) => setTimeout(resolve, 8000, "late"));
        return await Promise.race([Promise.all(calls), late]);
      });
      expect(results).toEqual([300_000, 300_000]);
    }));

  test("calls of a page that keeps its thread busy, and of many tasks that keep theirs, all settle", () =>
    inPage(headers, async (page) => {
      const sum = await page.evaluate(async () => {
        const pool = createPool({ threads: 3 })<Tasks>(new URL("/tasks.js", location.href));
        const calls: Promise<unknown>[] = [];
        for (let n = 0; n < 200; n++) {
          calls.push(n % 10 === 0 ? pool.call.spin(5) : pool.call.echo(n));
          if (n % 50 === 0) { for (const end = performance.now() + 30; performance.now() < end;); }
        }
        const results = await Promise.all(calls);
        await pool.shutdown();
        return results.reduce<number>((sum, n) => sum + (n as number ?? 0), 0);
      });
      expect(sum).toBe(200 * 199 / 2 - 10 * 19 * 20 / 2);
    }));
});
