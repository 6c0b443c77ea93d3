/** The page of the dashboard in a browser, served by Node's own server. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolStatistics } from "../../src/mod.ts";
import { dashboard } from "../../src/mod-dashboard.ts";
import { complaintsOf, hasBrowser, launchBrowser, shadowsOf } from "../support/browser.ts";

type Tasks = typeof import("../fixtures/context-tasks.ts");

describe.skipIf(!hasBrowser)("the page", () => {
  let browser: Browser;
  let server: Server;
  let pool: Pool<Tasks>;
  let origin: string;

  beforeAll(async () => {
    const context = new URL("../fixtures/context-run.ts", import.meta.url);
    pool = createPool({
      threads: 2,
      metrics: true,
      worker: { name: "shown" },
      context: { capture: () => "a", run: context },
    })<Tasks>(new URL("../fixtures/context-tasks.ts", import.meta.url));
    const show = dashboard({ "<b>images</b>": pool });
    server = createServer((incoming, outgoing) => {
      const response = show(new Request(new URL(incoming.url!, "http://localhost")));
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      void response.text().then((text) => outgoing.end(text));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
    await pool?.shutdown();
  });

  test.each([["/pools", 1280], ["/deep/path/", 390]])(
    "at %s, %i pixels wide, shows pools, workers and tasks as they are",
    async (path, width) => {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      const complaints = complaintsOf(page, (url) => url.startsWith(origin) || url === "data:,");
      for (let n = 0; n < 5; n++) await pool.call.later(1);
      await page.goto(origin + path);
      await page.waitForSelector("td:text-is('shown-1')");
      // A name is text, not markup.
      expect(await page.textContent("h2")).toBe("<b>images</b>");
      const row = page.locator("tr", { has: page.locator("td:text-is('later')") });
      const calls = async (): Promise<number> =>
        Number(await row.locator("td").nth(1).textContent());
      const before = await calls();
      expect(before).toBeGreaterThanOrEqual(5);
      for (let n = 0; n < 3; n++) await pool.call.later(1);
      await expect.poll(calls, { timeout: 20_000 }).toBe(before + 3);
      // Of the calls since the page was opened.
      const median = (): Promise<string | null> => row.locator("td").nth(3).textContent();
      await expect.poll(median, { timeout: 20_000 }).toMatch(/^\d/);
      const canvases = page.locator("canvas");
      expect(await canvases.count()).toBe(4);
      // All charts have at least two readings.
      const ink = await canvases.evaluateAll((all) =>
        all.map((element) => {
          const canvas = element as HTMLCanvasElement;
          const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
          return data.some((value, index) => index % 4 === 3 && value > 0);
        })
      );
      expect(ink).toEqual([true, true, true, true]);
      const scrolls = await page.evaluate(() =>
        document.documentElement.scrollWidth > document.documentElement.clientWidth
      );
      expect(scrolls).toBe(false);
      expect(complaints).toEqual([]);
      await page.close();
    },
  );

  /** Opens the page with a pool that has these tasks at each reading. */
  async function openWith(
    options: Parameters<Browser["newPage"]>[0],
    tasksOf: (reading: number) => PoolStatistics["tasks"],
  ): Promise<Page> {
    const stats = pool.stats();
    let reading = 1;
    const show = dashboard({
      busy: { stats: () => ({ ...stats, tasks: tasksOf(reading++) }) },
    });
    const page = await browser.newPage(options);
    await page.route(
      "**/stats.json",
      async (route) =>
        route.fulfill({ body: await show(new Request("http://localhost/stats.json")).text() }),
    );
    await page.goto(`${origin}/pools`);
    return page;
  }

  const LARGE = { p50: 0.00123, p90: 12.3, p99: 98_765, p999: 123_456, max: 234_567, mean: 5 };

  function largeTasks(reading: number) {
    const histogram = [0.00123, 0.0456, 12.3, 98_765, 123_456, 234_567]
      .map((ms) => [ms, reading * 1000] as const);
    const all = { ...LARGE, count: 1e6, histogram };
    const name = "renderTheMonthlyInvoicesOfAllCustomersWithTheirAttachments";
    const task = { name, calls: 123_456_789, failures: 1_234_567, run: all, wait: all };
    return [task, { ...task, name: "add" }];
  }

  test("tables are not cut at 1280 pixels, whatever they hold", async () => {
    const page = await openWith({ viewport: { width: 1280, height: 900 } }, largeTasks);
    await page.waitForSelector("td:text-is('234567')");
    const cut = await page.locator(".table").evaluateAll((boxes) =>
      boxes.map(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    );
    expect(cut).toEqual([false, false]);
    expect(await shadowsOf(page.locator(".table").nth(1))).toEqual(["", ""]);
    await page.close();
  });

  test.each(["light", "dark"] as const)(
    "on a %s phone they show that they scroll",
    async (look) => {
      const page = await openWith(
        { viewport: { width: 390, height: 900 }, colorScheme: look },
        largeTasks,
      );
      await page.waitForSelector("td:text-is('234567')");
      expect(await shadowsOf(page.locator(".table").nth(1))).toEqual(["right", "left"]);
      await page.close();
    },
  );

  test("the times of quick tasks are told apart beside those of slow ones", async () => {
    const page = await openWith(
      {},
      (reading) =>
        [["quick", 0.01], ["middle", 1], ["slow", 10_000]].map(([name, ms]) => {
          const histogram = [[ms as number, reading * 1000]] as const;
          const times = { ...LARGE, count: 1000, histogram };
          return { name: name as string, calls: 1000, failures: 0, run: times, wait: times };
        }),
    );
    /** The lowest pixel of each line: the legend is above. */
    const lowest = (): Promise<readonly number[]> =>
      page.locator("canvas").nth(3).evaluate((element) => {
        const canvas = element as HTMLCanvasElement;
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d")!.getImageData(0, 0, width, height);
        return [[0x3b, 0x82, 0xf6], [0xf9, 0x73, 0x16], [0x10, 0xb9, 0x81]].map((color) => {
          for (let at = data.length - 4; at >= 0; at -= 4) {
            if (color.every((part, index) => data[at + index] === part)) {
              return Math.floor(at / 4 / width) / height;
            }
          }
          return 0;
        });
      });
    const distances = async (): Promise<boolean> => {
      const [quick, middle, slow] = await lowest() as [number, number, number];
      return quick - middle > 0.1 && middle - slow > 0.1;
    };
    await expect.poll(distances, { timeout: 20_000 }).toBe(true);
    await page.close();
  });

  test("says when the server does not answer", async () => {
    const page = await browser.newPage();
    await page.route("**/stats.json", (route) => route.fulfill({ status: 503, body: "" }));
    await page.goto(`${origin}/pools`);
    await page.waitForSelector("#state:text('No answer from the server: status 503')");
    await page.close();
  });
});
