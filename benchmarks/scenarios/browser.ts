/**
 * `browser`: calls of one web worker from a page, by both transports of heddle, a bare worker, comlink and workerpool. All take
 * turns in one page of Chromium, which is cross-origin isolated. Each turn is a sample.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { ISOLATED, pageOf, serveFolder } from "../../tests/browser/pages.ts";
import { launchBrowser } from "../../tests/support/browser.ts";
import type {} from "../browser/page.ts";
import { Figures, finish, readArguments } from "../harness/child.ts";

const page: string = fileURLToPath(new URL("../browser/", import.meta.url));
const NS_PER_US = 1000;
const TURNS = 40;
const WARM_UP_TURNS = 10;
const QUICK_TURNS = 6;
const QUICK_WARM_UP_TURNS = 3;

async function bundle(folder: string): Promise<void> {
  const names = ["page", "heddle-worker", "bare-worker", "comlink-worker", "workerpool-worker"];
  await build({
    entryPoints: names.map((name) => `${page}${name}.ts`),
    outdir: folder,
    bundle: true,
    format: "esm",
    platform: "browser",
    conditions: ["browser"],
    external: ["worker_threads", "os", "child_process"], // which workerpool requires on Node
    minify: true,
  });
  writeFileSync(join(folder, "index.html"), pageOf("/page.js"));
}

/** Runs one round of all contenders, and prints their figures. */
export async function run(): Promise<never> {
  const { isQuick } = readArguments();
  const folder = mkdtempSync(join(tmpdir(), "heddle-browser-"));
  await bundle(folder);
  const site = await serveFolder(folder, ISOLATED);
  const browser = await launchBrowser();
  const opened = await browser.newPage();
  await opened.goto(`${site.url}/index.html`);
  await opened.waitForFunction(() => "measureCalls" in globalThis);
  const samples = await opened.evaluate(
    ([turns, warmUp]) => measureCalls(turns, warmUp),
    isQuick ? [QUICK_TURNS, QUICK_WARM_UP_TURNS] as const : [TURNS, WARM_UP_TURNS] as const,
  );
  await browser.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
  const figures = new Figures();
  for (const { us, ...place } of samples) figures.add({ ...place, unit: "ns" }, us * NS_PER_US);
  return finish(figures.all);
}
