/** The page of all charts in a browser, opened from disk. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderGraphs } from "../../graphs/render.ts";
import { complaintsOf, hasBrowser, launchBrowser } from "../support/browser.ts";

const results = fileURLToPath(new URL("../../results/", import.meta.url));

const DESKTOP = { width: 1200, height: 900 };
const PHONE = { width: 390, height: 800 };

describe.skipIf(!hasBrowser)("graphs/index.html", () => {
  const folder = mkdtempSync(join(tmpdir(), "heddle-graphs-"));
  let browser: Browser;
  let files: string[];
  /** The charts in the page; some have PNGs of other looks as well. */
  let charts: number;

  beforeAll(async () => {
    files = await renderGraphs(results, `${folder}/`);
    charts = files.filter((file) => /(?<!-dark|-phone)\.png$/.test(file)).length;
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  /** The page, and what it complained about. */
  async function open(viewport: typeof DESKTOP): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage({ viewport });
    const complaints = complaintsOf(page, (url) => url.startsWith("file:"));
    await page.goto(pathToFileURL(join(folder, "index.html")).href);
    return { page, complaints };
  }

  const shownIn = (page: Page): Promise<string[]> =>
    page.$$eval(
      "figure:not([hidden]) canvas",
      (canvases) => canvases.map((canvas) => canvas.id),
    );

  /** Pixels of a canvas that are not transparent, in per cent. */
  const inkOf = (page: Page, id: string): Promise<number> =>
    page.$eval(`#${id}`, (element) => {
      const canvas = element as HTMLCanvasElement;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let inked = 0;
      for (let at = 3; at < data.length; at += 4) if (data[at]! > 0) inked++;
      return 100 * inked / (data.length / 4);
    });

  test("the build writes a PNG of every chart and the page", () => {
    expect(charts).toBeGreaterThan(20);
    expect(files.at(-1)).toMatch(/index\.html$/);
    for (const file of files.slice(0, -1)) expect(file).toMatch(/\.png$/);
  });

  test("every chart is drawn without errors and without network access", async () => {
    const { page, complaints } = await open(DESKTOP);
    await page.selectOption("#scenario", "all");
    const shown = await shownIn(page);
    expect(shown).toHaveLength(charts);
    // Chart.js animates for a second.
    for (const id of shown) {
      await expect.poll(() => inkOf(page, id), { message: id, timeout: 20_000 }).toBeGreaterThan(1);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("every chart has a sentence under it", async () => {
    const { page } = await open(DESKTOP);
    const sentences = await page.$$eval(
      "figcaption p",
      (found) => found.map(({ textContent }) => textContent),
    );
    expect(sentences).toHaveLength(charts);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z][^]{30,}\.$/);
    await page.close();
  });

  test("the pickers select charts, and the URL keeps the selection", async () => {
    const { page, complaints } = await open(DESKTOP);
    await page.selectOption("#scenario", "types");
    const all = await shownIn(page);
    await page.selectOption("#runtime", "deno");
    const deno = await shownIn(page);
    expect(all.length).toBeGreaterThan(deno.length);
    expect(deno.length).toBeGreaterThan(0);
    for (const id of deno) expect(id).toMatch(/^types-\d+-deno$/);
    await page.reload();
    expect(await shownIn(page)).toEqual(deno);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("a tooltip shows the number of samples", async () => {
    const { page } = await open(DESKTOP);
    await page.selectOption("#scenario", "latency");
    const [id = ""] = await shownIn(page);
    const text = await page.evaluate((id) => {
      type Tooltip = {
        setActiveElements(elements: unknown[], position: unknown): void;
        body: { after: string[] }[];
      };
      type Charts = { getChart(id: string): { tooltip: Tooltip; update(): void } };
      const chart = (globalThis as unknown as { Chart: Charts }).Chart.getChart(id);
      chart.tooltip.setActiveElements([{ datasetIndex: 0, index: 0 }], { x: 0, y: 0 });
      chart.update();
      return chart.tooltip.body[0]!.after.join();
    }, id);
    expect(text).toMatch(/^[\d,]+ samples$/);
    await page.close();
  });

  test("the page has a dark and a light theme", async () => {
    const { page, complaints } = await open(DESKTOP);
    const background = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.selectOption("#theme", "dark");
    const dark = await background();
    await page.selectOption("#theme", "light");
    expect(await background()).not.toBe(dark);
    await page.selectOption("#theme", "auto");
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(background, { timeout: 20_000 }).toBe(dark);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("no element is wider than the screen of a phone", async () => {
    const { page, complaints } = await open(PHONE);
    await page.selectOption("#scenario", "all");
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(PHONE.width);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
