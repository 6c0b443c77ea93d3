/** Pages in Firefox, where it is installed: `firefox` or `firefox-esr` on the path, or FIREFOX_PATH. */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { firefox } from "../support/browser.ts";
import { inFolder, root } from "../support/package.ts";
import { CORS, expected, ISOLATED, pageOf, serveFolder } from "./pages.ts";

async function bundle(folder: string): Promise<void> {
  const program = join(root, "tests/browser/program");
  const dist = join(root, "dist/browser");
  await build({
    entryPoints: {
      main: join(program, "with-url.js"),
      tasks: join(program, "tasks.js"),
      worker: join(dist, "worker.js"),
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    alias: { "heddle/task": join(dist, "task.js"), "heddle": join(dist, "mod.js") },
  });
  writeFileSync(join(folder, "index.html"), pageOf("/main.js"));
}

/** What the page posts. */
function inFirefox(folder: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    void serveFolder(folder, headers, (request, response) => {
      if (request.url !== "/result") return false;
      const parts: Uint8Array[] = [];
      request.on("data", (part: Uint8Array) => parts.push(part));
      request.on("end", () => {
        response.end();
        void end(JSON.parse(Buffer.concat(parts).toString()));
      });
      return true;
    }).then((site) => {
      const profile = join(folder, "profile");
      mkdirSync(profile, { recursive: true });
      const flags = [
        "--headless",
        "--no-remote",
        "--profile",
        profile,
        `${site.url}/index.html?post`,
      ];
      const child = spawn(firefox!, flags, { stdio: "ignore" });
      end = async (result) => {
        child.kill("SIGKILL");
        await new Promise((closed) => child.once("close", closed));
        await site.close();
        resolve(result);
      };
      child.once("error", reject);
    });
    let end = (_result: unknown): Promise<void> => Promise.resolve();
  });
}

const TASKS = `
export const add = (a, b) => a + b;
export const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms, ms));
export const nested = (levels) => {
  let value = 1;
  for (let level = 0; level < levels; level++) value = { value };
  return value;
};
export const levelsOf = (value) => {
  let levels = 0;
  for (; typeof value === "object"; value = value.value) levels++;
  return levels;
};
`;

/** What a page posts whose script is this, after an import of heddle as `heddle`. */
function ofPage(script: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  return inFolder((folder) => {
    cpSync(join(root, "dist/browser"), join(folder, "heddle"), { recursive: true });
    const code = `import * as heddle from "/heddle/mod.js";
      import { levelsOf, nested } from "/tasks.js";
      const createPool = (options) => heddle.createPool({ threads: 1, ...options })("/tasks.js");
      const end = (result) =>
        void fetch("/result", { method: "POST", body: JSON.stringify(result) });
      ${script}`;
    writeFileSync(join(folder, "page.js"), code);
    writeFileSync(join(folder, "tasks.js"), TASKS);
    writeFileSync(join(folder, "index.html"), pageOf("/page.js"));
    const back = "<script>setTimeout(() => history.back(), 500)</script>";
    writeFileSync(join(folder, "other.html"), `<!doctype html>${back}`);
    return inFirefox(folder, headers);
  });
}

// Left out where Firefox is not installed: no package of the registry has one that runs without its own driver.
describe.runIf(firefox !== undefined)("Firefox", () => {
  test.each([["shared", ISOLATED], ["messages", {}]] as const)(
    "%s",
    (transport, headers) =>
      inFolder(async (folder) => {
        await bundle(folder);
        expect(await inFirefox(folder, headers)).toEqual(expected(transport));
      }),
  );

  test.each([["shared", ISOLATED], ["messages", {}]] as const)(
    "%s: values nested too deeply are refused, and other calls go on",
    async (_, headers) => {
      const result = await ofPage(
        `const pool = createPool();
        const other = pool.call.later(300).catch(({ code }) => code);
        const outcome = (promise) => promise.then(() => "arrives", ({ code }) => code);
        const outcomes = new Set();
        for (const levels of [700, 1000, 1500, 2000, 3000, 5000, 20_000]) {
          outcomes.add(await outcome(pool.call.levelsOf(nested(levels))));
          outcomes.add(await outcome(pool.call.nested(levels)));
        }
        end([[...outcomes].sort(), await other, pool.stats().workersLost]);`,
        headers,
      );
      expect(result).toEqual([["HEDDLE_DATA_CLONE", "arrives"], 300, 0]);
    },
  );

  test.each([["isolated", { ...ISOLATED, ...CORS }], ["plain", CORS]] as const)(
    "a sandboxed frame runs calls, %s",
    async (_, headers) => {
      const result = await ofPage(
        `const frame = document.createElement("iframe");
        frame.setAttribute("sandbox", "allow-scripts");
        frame.srcdoc = '<script type="module">' +
          'import { createPool } from "/heddle/mod.js";' +
          'const pool = createPool({ threads: 1 })("' + location.origin + '/tasks.js");' +
          'const result = await pool.call.add(1, 2).catch(({ message }) => message);' +
          'parent.postMessage(result, "*");</' + 'script>';
        addEventListener("message", ({ data }) => end(data));
        document.body.append(frame);`,
        headers,
      );
      expect(result).toBe(3);
    },
  );

  test("heddle of another origin starts workers, and says what is wrong with their script", async () => {
    const site = await serveFolder(join(root, "dist/browser"), CORS);
    const broken = await serveFolder(join(root, "dist/browser"), CORS, ({ url }, response) => {
      if (url === "/worker.js") response.writeHead(404).end();
      return url === "/worker.js";
    });
    try {
      const result = await ofPage(
        `const results = ${JSON.stringify([site.url, broken.url])}.map(async (url) => {
          const { createPool } = await import(url + "/mod.js");
          const pool = createPool({ threads: 1 })(new URL("/tasks.js", location.href));
          return await pool.call.add(1, 2).catch(({ message }) => message);
        });
        end(await Promise.all(results));`,
      );
      expect(result).toEqual([3, expect.stringMatching(/could not be loaded: .*answered 404/)]);
    } finally {
      await site.close();
      await broken.close();
    }
  });

  test("workers that the page ends are noticed and replaced", async () => {
    const result = await ofPage(
      `const workers = [];
      const Original = Worker;
      globalThis.Worker = class extends Original {
        constructor(...args) {
          super(...args);
          workers.push(this);
        }
      };
      const pool = createPool();
      await pool.ready;
      const lost = pool.call.later(10_000).catch(({ code }) => code);
      workers[0].terminate();
      end([await lost, await pool.call.add(1, 2)]);`,
    );
    expect(result).toEqual(["HEDDLE_WORKER_LOST", 3]);
  });

  test.each(["idle", "busy", "stopped", "shut down"])(
    "the back-forward cache keeps a page whose pool is %s",
    async (state) => {
      const result = await ofPage(
        `if (sessionStorage.getItem("wasHere") !== null) end("loaded again");
        else {
          sessionStorage.setItem("wasHere", "yes");
          const pool = createPool();
          const call = pool.call.later(1500);
          addEventListener("pageshow", async ({ persisted }) => {
            if (!persisted) return;
            const results = state === "shut down" ? [] : [await call, await pool.call.add(1, 2)];
            end(["kept", ...results]);
          });
          const state = ${JSON.stringify(state)};
          if (state === "stopped") {
            const other = createPool({ hardTimeoutMs: 50 });
            await other.call.later(9999).catch(() => {});
          }
          await (state === "busy" ? pool.ready : call); // none that still loads its script
          if (state === "shut down") await pool.shutdown();
          setTimeout(() => location.href = "/other.html", 200);
        }`,
      );
      expect(result).toEqual(state === "shut down" ? ["kept"] : ["kept", 1500, 3]);
    },
  );
});
