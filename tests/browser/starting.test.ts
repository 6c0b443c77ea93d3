/** How workers start in pages that do not load heddle's own script as a module of their own origin, and what goes wrong. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { inFolder, root } from "../support/package.ts";
import { type Answer, CORS, ISOLATED, openPage, pageOf, resultOf, serveFolder } from "./pages.ts";

const START = "HEDDLE_WORKER_START";
const dist = join(root, "dist/browser");

let browser: Browser;
let folder = "";
let remove = (): void => {};

/** Scripts of workers, by the names that pages give them. */
const WORKERS: Readonly<Record<string, string>> = {
  "serves.js": 'import { serve } from "/heddle/worker.js";\n' +
    'import * as tasks from "/tasks.js"; serve(tasks);\n',
  "never.js": 'import "/heddle/worker.js";\n',
  "late.js": 'import { serve } from "/heddle/worker.js"; import * as tasks from "/tasks.js";\n' +
    "await new Promise((resolve) => setTimeout(resolve, 300)); serve(tasks);\n",
  "foreign.js": "globalThis.isForeign = true;\n",
};

/** Defines `outcome`: that of a first call of a pool, which a function creates. */
const OUTCOME = `globalThis.outcome = async (create) => {
  try {
    return await create().call.add(1, 2);
  } catch ({ code, message }) {
    return { code, message };
  }
};
`;

beforeAll(async () => {
  if (hasBrowser) browser = await launchBrowser();
  await new Promise<void>((ready) =>
    void inFolder(async (made) => {
      folder = made;
      cpSync(dist, join(folder, "heddle"), { recursive: true });
      const files: Readonly<Record<string, string>> = {
        ...WORKERS,
        "tasks.js": "export const add = (a, b) => a + b;\n",
        "index.html": "<!doctype html><title>heddle</title>",
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      ready();
      await new Promise<void>((done) => remove = done);
    })
  );
});
afterAll(async () => {
  await browser?.close();
  remove();
});

let pages = 0;

/** The outcome of a first call in a page: `create` is the text of a function that returns a pool. */
async function outcomeOf(
  create: string,
  headers: Readonly<Record<string, string>> = {},
  prepare?: (page: Page) => Promise<void>,
): Promise<unknown> {
  // By the page's own script: some policies forbid what a driver would evaluate.
  const name = `page-${pages++}`;
  const code = `import { createPool } from "/heddle/mod.js";\n${OUTCOME}` +
    `console.log("RESULT " + JSON.stringify(await outcome(${create})));\n`;
  writeFileSync(join(folder, `${name}.js`), code);
  writeFileSync(join(folder, `${name}.html`), pageOf(`/${name}.js`));
  const site = await serveFolder(folder, headers);
  try {
    return await resultOf(browser, `${site.url}/${name}.html`, prepare);
  } finally {
    await site.close();
  }
}

const failed = (message: RegExp): unknown => ({
  code: START,
  message: expect.stringMatching(message),
});

const given = (script: string, options = ""): string =>
  `() => createPool({ threads: 1, ${options} })(() => new Worker("/${script}", { type: "module" }))`;

describe.runIf(hasBrowser).each([["shared", ISOLATED], ["messages", {}]] as const)(
  "a worker that the program starts, %s",
  (_, headers) => {
    test("serves its tasks", async () => {
      expect(await outcomeOf(given("serves.js"), headers)).toBe(3);
    });

    test.each(["never.js", "late.js"])("%s: serve was not called at once", async (script) => {
      const message = /task module failed to load: .*did not call serve\(tasks\).*after an await/;
      expect(await outcomeOf(given(script), headers)).toEqual(failed(message));
    });

    test("without heddle is warned of early, and named at the end of its time", async () => {
      const warnings: string[] = [];
      const outcome = await outcomeOf(
        given("foreign.js", "startTimeoutMs: 20_000"),
        headers,
        async (page) => {
          await page.clock.install();
          page.on("console", (message) => {
            if (message.type() !== "warning") return;
            warnings.push(message.text());
            void page.clock.fastForward(20_000);
          });
          page.on("request", (request) => {
            if (request.url().endsWith("/foreign.js")) void page.clock.fastForward(10_000);
          });
        },
      );
      expect(outcome).toEqual(failed(/not ready within 20000 ms.*may not call serve\(tasks\)/));
      expect(warnings).toEqual([expect.stringMatching(/says nothing yet.*serve\(tasks\)/)]);
    });
  },
);

describe.runIf(hasBrowser)("a function that starts no worker", () => {
  test.each([
    ["async () => new Worker('/serves.js', { type: 'module' })", /return a Worker.*Promise/],
    ["() => {}", /return a Worker.*Undefined/],
    ["() => ({})", /return a Worker.*Object/],
  ])("%s", async (create, message) => {
    const outcome = await outcomeOf(`() => createPool({ threads: 1 })(${create})`);
    expect(outcome).toEqual(failed(message));
  });
});

describe.runIf(hasBrowser)("a bundle without import.meta", () => {
  beforeAll(async () => {
    const bundle = (name: string, contents: string) =>
      build({
        stdin: { contents, resolveDir: folder },
        outfile: join(folder, name),
        bundle: true,
        format: "iife",
        logLevel: "error",
      });
    await bundle(
      "classic.js",
      `import * as heddle from "./heddle/mod.js"; Object.assign(globalThis, heddle);\n${OUTCOME}`,
    );
    await bundle(
      "classic-worker.js",
      'import { serve } from "./heddle/worker.js"; import * as tasks from "./tasks.js"; serve(tasks);',
    );
    writeFileSync(
      join(folder, "classic.html"),
      '<!doctype html><script src="/classic.js"></script>',
    );
  });

  const inClassic = (create: string): Promise<unknown> =>
    openPage(
      browser,
      { folder, headers: {}, path: "/classic.html" },
      (page) => page.evaluate(`outcome(${create})`),
    );

  test("takes workers from a function", async () => {
    const create = '() => createPool({ threads: 1 })(() => new Worker("/classic-worker.js"))';
    expect(await inClassic(create)).toBe(3);
  });

  test("says that it cannot start workers for a URL", async () => {
    const outcome = await inClassic(
      '() => createPool({ threads: 1 })(new URL("/tasks.js", location.href))',
    );
    expect(outcome).toEqual(failed(/no import\.meta\.url.*a function that starts a worker/));
  });
});

describe.runIf(hasBrowser)("Trusted Types", () => {
  const STRICT_TYPES = {
    "Content-Security-Policy": "script-src 'self'; require-trusted-types-for 'script'",
  };

  test("a function gives the worker a trusted URL", async () => {
    const create = `() => {
      const policy = trustedTypes.createPolicy("workers", { createScriptURL: (url) => url });
      return createPool({ threads: 1 })(
        () => new Worker(policy.createScriptURL("/serves.js"), { type: "module" }));
    }`;
    expect(await outcomeOf(create, STRICT_TYPES)).toBe(3);
  });

  test("the URL of tasks is refused, by name", async () => {
    const create = '() => createPool({ threads: 1 })("/tasks.js")';
    expect(await outcomeOf(create, STRICT_TYPES)).toEqual(failed(/TrustedScriptURL/));
  });
});

describe.runIf(hasBrowser).each([["isolated", { ...ISOLATED, ...CORS }], ["plain", CORS]] as const)(
  "a sandboxed frame, %s",
  (_, headers) => {
    /** What the frame, which has no origin, posts. */
    const inFrame = (answer?: Answer): Promise<unknown> => {
      writeFileSync(
        join(folder, "frame.html"),
        `<!doctype html><script type="module">${OUTCOME}
        const { createPool } = await import("/heddle/mod.js");
        const url = new URL("/tasks.js", location.href);
        parent.postMessage(await outcome(() => createPool({ threads: 1 })(url)), "*");</script>`,
      );
      return openPage(
        browser,
        { folder, headers, answer },
        (page) =>
          page.evaluate(() => {
            const frame = document.createElement("iframe");
            frame.setAttribute("sandbox", "allow-scripts");
            frame.src = "/frame.html";
            document.body.append(frame);
            return new Promise((resolve) =>
              addEventListener("message", ({ data }) => resolve(data), { once: true })
            );
          }),
      );
    };

    const forWorker =
      (respond: (response: Parameters<Answer>[1]) => void): Answer => (request, response) => {
        if (request.url !== "/heddle/worker.js") return false;
        respond(response);
        return true;
      };

    test("runs calls", async () => {
      expect(await inFrame()).toBe(3);
    });

    test.each<readonly [string, Answer, RegExp]>([
      ["missing", forWorker((response) => response.writeHead(404).end()), /server answered 404/],
      [
        "damaged",
        forWorker((response) =>
          response.setHeader("Content-Type", "text/javascript").end("const;")
        ),
        /could not be loaded: .*SyntaxError/,
      ],
    ])("names what is wrong with a script that is %s", async (_, answer, message) => {
      expect(await inFrame(answer)).toEqual(failed(message));
    });
  },
);
