/** The pages' program in Firefox, where it is installed: `firefox` or `firefox-esr` on the path, or FIREFOX_PATH. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { firefox } from "../support/browser.ts";
import { inFolder, root } from "../support/package.ts";
import { expected, ISOLATED, pageOf, serveFolder } from "./pages.ts";

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
});
