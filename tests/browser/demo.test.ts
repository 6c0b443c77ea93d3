/** `examples/browser`, built by its own configuration: it computes, and the page stays smooth meanwhile. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { inFolder, pack, root, unpack } from "../support/package.ts";
import { ISOLATED, serveFolder, type Site } from "./pages.ts";

let browser: Browser;
let site: Site;
let remove = (): void => {};

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launchBrowser();
  await new Promise<void>((ready, fail) =>
    void inFolder(async (folder) => {
      unpack(pack(folder).tarball, folder);
      const program = join(folder, "demo");
      cpSync(join(root, "examples/browser"), program, { recursive: true });
      await build({
        root: program,
        logLevel: "silent",
        configFile: false,
        worker: { format: "es" },
      });
      site = await serveFolder(join(program, "dist"), ISOLATED);
      ready();
      await new Promise<void>((done) => remove = done);
    }).catch(fail)
  );
});
afterAll(async () => {
  await site?.close();
  await browser?.close();
  remove();
});

declare global {
  // In the page.
  var frameTimes: { readonly gaps: number[] };
}

/** Starts the work and waits for its end: the status, and the milliseconds between frames meanwhile, in order. */
async function work(page: Page): Promise<{ status: string; gaps: readonly number[] }> {
  await page.evaluate(() => void (frameTimes.gaps.length = 0));
  await page.click("#start");
  await page.waitForFunction(() => document.getElementById("start")!.textContent === "Start", {
    timeout: 120_000,
  });
  await page.waitForTimeout(100);
  return await page.evaluate(() => ({
    status: document.getElementById("status")!.textContent!,
    gaps: frameTimes.gaps.toSorted((one, other) => one - other),
  }));
}

const ended = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.getElementById("start")!.textContent === "Start", {
    timeout: 120_000,
  });

describe.runIf(hasBrowser)("the demo", () => {
  test("draws, counts, cancels, and keeps its frames coming", async () => {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    await page.goto(`${site.url}/index.html`);
    await ended(page);
    expect(await page.textContent("#transport")).toBe("shared memory");
    expect(await page.textContent("#status")).toMatch(/^0\.6 million points in/);
    await page.check("#primes");
    const { status, gaps } = await work(page);
    expect(status).toMatch(/^21,336,326 primes below 400,000,000 in .* workers$/);
    await page.check("#blocking");
    const alone = await work(page);
    expect(alone.status).toMatch(/^21,336,326 primes .* on this page's thread$/);
    const p99 = gaps[Math.floor(gaps.length * 0.99)]!;
    const frozen = alone.gaps.at(-1)!;
    console.log(
      `time between frames: p99 ${p99.toFixed(0)} ms, longest ${gaps.at(-1)!.toFixed(0)} ms; ` +
        `without workers ${frozen.toFixed(0)} ms`,
    );
    // Beside other suites frames may be late, but never as with one thread.
    expect(p99).toBeLessThan(frozen / 2);
    await page.uncheck("#blocking");
    await page.click("#start");
    await page.click("#start");
    await ended(page);
    expect(await page.textContent("#status")).toBe("cancelled");
    await page.fill("#workers", "1");
    await page.check("#mandelbrot");
    expect((await work(page)).status).toMatch(/on 1 workers$/);
    expect(errors).toEqual([]);
  });
});
