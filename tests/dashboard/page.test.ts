/** The page of the dashboard in a browser, served by Node's own server. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool, type Pool } from "../../src/mod.ts";
import { dashboard } from "../../src/mod-dashboard.ts";
import { complaintsOf, hasBrowser, launchBrowser } from "../support/browser.ts";

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

  test("tables are not cut at 1280 pixels, whatever they hold", async () => {
    const stats = pool.stats();
    const times = { p50: 0.00123, p90: 12.3, p99: 98_765, p999: 123_456, max: 234_567, mean: 5 };
    let readings = 1;
    const busy = () => {
      const histogram = [0.00123, 0.0456, 12.3, 98_765, 123_456, 234_567]
        .map((ms) => [ms, readings * 1000] as const);
      const all = { ...times, count: 1e6, histogram };
      const name = "renderTheMonthlyInvoicesOfAllCustomersWithTheirAttachments";
      const task = { name, calls: 123_456_789, failures: 1_234_567, run: all, wait: all };
      return { ...stats, tasks: [task, { ...task, name: "add" }] };
    };
    const show = dashboard({ busy: { stats: () => (readings++, busy()) } });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.route(
      "**/stats.json",
      async (route) =>
        route.fulfill({ body: await show(new Request("http://localhost/stats.json")).text() }),
    );
    await page.goto(`${origin}/pools`);
    await page.waitForSelector("td:text-is('234567')");
    const cut = await page.locator(".table").evaluateAll((boxes) =>
      boxes.map(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    );
    expect(cut).toEqual([false, false]);
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
