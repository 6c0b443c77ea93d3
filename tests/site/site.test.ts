/** Builds the site and reads it: its links without a browser, its pages in headless Chromium. Needs the build of heddle. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import sparticuz from "@sparticuz/chromium";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { API_PAGES, pageOf, PAGES, SIDEBAR } from "../../docs/.vitepress/navigation.ts";
import { shadowsOf } from "../support/browser.ts";
import { serve, type Served } from "./serve.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = join(root, "docs/.vitepress/dist");
const DESKTOP = { width: 1400, height: 900 };
const LAPTOPS = [1280, 1440, 1920];
const PHONE = { width: 380, height: 800 };

const build = spawnSync(process.execPath, ["scripts/docs.ts"], {
  cwd: root,
  encoding: "utf8",
  env: { ...process.env, NODE_OPTIONS: "", NODE_ENV: "production" },
});

const files = existsSync(dist)
  ? readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".html") && !name.startsWith("graphs"))
  : [];
const textOf = (file: string): string => readFileSync(join(dist, file), "utf8");
const idsOf = (html: string): Set<string> =>
  new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));

/** Links of a page that lead nowhere. */
function deadLinks(file: string): string[] {
  const html = textOf(file);
  const links = [...html.matchAll(/ (?:href|src|srcset)="([^"]+)"/g)].map(([, link]) => link!);
  return links.filter((link) => {
    if (/^(https?:|data:|mailto:)/.test(link)) return false;
    const [path = "", anchor = ""] = link.replaceAll("&amp;", "&").split("#");
    const target = path === ""
      ? file
      : posix.join(path.startsWith("/") ? "" : dirname(file), path).replace(/^\//, "");
    const found = [target, `${target}.html`, posix.join(target, "index.html")]
      .find((name) => /\.\w+$/.test(name) && existsSync(join(dist, name)));
    if (found === undefined) return true;
    return anchor !== "" && found.endsWith(".html") &&
      !idsOf(textOf(found)).has(decodeURIComponent(anchor));
  });
}

test("the site is built, with a page for each Markdown file", () => {
  expect(build.status, build.stderr).toBe(0);
  const generated = API_PAGES.map(({ file }) => file);
  const expected = [...PAGES, ...generated, "index.md"]
    .map((file) => pageOf(file).replace(/md$/, "html"));
  expect(files.filter((file) => file !== "404.html").sort()).toEqual(expected.sort());
});

test.each(files)("%s has no dead link and loads nothing from another host", (file) => {
  expect(deadLinks(file)).toEqual([]);
  // Links of its text may lead elsewhere.
  const loaded = textOf(file).match(/ src="https?:[^"]+"|<link [^>]*href="https?:[^"]+"/g) ?? [];
  expect(loaded).toEqual([]);
});

test("the first page has the install command, and the API begins with createPool", () => {
  const [sh = ""] = textOf("index.html").match(/<pre[^]*?<\/pre>/) ?? [];
  expect(sh.replace(/<[^>]+>/g, "")).toContain("npm install heddle");
  const headings = [...textOf("api.html").matchAll(/<h3 id="([^"]+)"/g)].map(([, id]) => id);
  expect(headings[0]).toBe("createpool");
  expect(headings).not.toContain("mutex");
  expect(textOf("api/shared.html")).toContain('<h3 id="mutex"');
});

test("the check of links finds dead ones", () => {
  expect(deadLinks("options.html")).toEqual([]);
  const ids = idsOf(textOf("options.html"));
  expect(ids.has("workers")).toBe(true);
  expect(ids.has("no-such-heading")).toBe(false);
});

test("llms.txt lists every page, and llms-full.txt has their text", () => {
  const index = textOf("llms.txt");
  const links = SIDEBAR.flatMap(({ items }) => items.map(({ link }) => link));
  for (const link of links) expect(index).toContain(`](${link})`);
  const full = textOf("llms-full.txt");
  for (const file of PAGES) expect(full).toContain(`<!-- ${pageOf(file)} -->`);
});

// The browser of the package runs on Linux x64.
describe.skipIf(process.platform !== "linux" || process.arch !== "x64")("in a browser", () => {
  let browser: Browser;
  let site: Served;

  beforeAll(async () => {
    site = await serve(dist);
    browser = await chromium.launch({
      executablePath: await sparticuz.executablePath(),
      args: ["--no-sandbox", "--headless", "--disable-gpu"],
      headless: true,
    });
  });

  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  async function open(
    viewport: typeof DESKTOP,
    colorScheme: "light" | "dark",
  ): Promise<{ page: Page; complaints: string[] }> {
    const page = await browser.newPage({ viewport, colorScheme });
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(site.origin) && !url.startsWith("data:")) complaints.push(url);
    });
    return { page, complaints };
  }

  const go = (page: Page, file: string) => page.goto(`${site.origin}/${file}`);

  test("no page is wider than a phone, and none complains", async () => {
    const { page, complaints } = await open(PHONE, "light");
    const wide: string[] = [];
    for (const file of files) {
      await go(page, file);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > PHONE.width) wide.push(`${file}: ${width}`);
    }
    expect(wide).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test.each(["light", "dark"] as const)(
    "on a %s phone a table that scrolls shows that it does, and only such a one",
    async (look) => {
      const { page } = await open(PHONE, look);
      await go(page, "browser.html");
      const tables = page.locator(".vp-doc table");
      const wide = await tables.evaluateAll((all) =>
        all.map(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      );
      expect(wide).toContain(true);
      for (const [index, isWide] of wide.entries()) {
        const shadows = await shadowsOf(tables.nth(index));
        expect([index, ...shadows]).toEqual([index, ...(isWide ? ["right", "left"] : ["", ""])]);
      }
      await page.close();
    },
  );

  test("code is not cut beside an empty margin, and no name in a table breaks", async () => {
    const wrong: string[] = [];
    const { page } = await open(DESKTOP, "light");
    for (const file of files.filter((name) => name !== "404.html")) {
      await go(page, file);
      for (const width of LAPTOPS) {
        await page.setViewportSize({ width, height: 900 });
        const found = await page.evaluate(() => {
          const text = document.querySelector(".vp-doc")!.getBoundingClientRect().right;
          const outline = document.querySelector(".VPDocAside")?.getBoundingClientRect();
          const isShown = outline !== undefined && outline.width > 0;
          const margin = (isShown ? outline.left : innerWidth) - text;
          const cut = [...document.querySelectorAll(".vp-doc pre")]
            .filter((code) => margin > 130 && code.scrollWidth > code.clientWidth + 1);
          const broken = [...document.querySelectorAll(".vp-doc td code")].filter((code) =>
            /^[\w.]+$/.test(code.textContent!) && code.getClientRects().length > 1
          );
          return [...cut, ...broken].map(({ textContent }) => textContent!.slice(0, 40));
        });
        wrong.push(...found.map((text) => `${file} at ${width}: ${text}`));
      }
    }
    await page.close();
    expect(wrong).toEqual([]);
  });

  test("light and dark follow the system and the switch", async () => {
    const backgrounds: string[] = [];
    for (const scheme of ["light", "dark"] as const) {
      const { page, complaints } = await open(DESKTOP, scheme);
      await go(page, "index.html");
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const first = await background();
      backgrounds.push(first);
      await page.locator(".VPNavBarAppearance button").click();
      await expect.poll(background, { timeout: 20_000 }).not.toBe(first);
      expect(complaints).toEqual([]);
      await page.close();
    }
    expect(backgrounds[0]).not.toBe(backgrounds[1]);
  });

  test("the search finds pages without a network", async () => {
    const { page, complaints } = await open(DESKTOP, "light");
    await go(page, "index.html");
    await page.locator("button.DocSearch-Button, #local-search button").first().click();
    await page.locator("#localsearch-input").fill("HEDDLE_QUEUE_FULL");
    const first = page.locator("#localsearch-list a").first();
    await first.waitFor();
    expect(await first.getAttribute("href")).toContain("/errors");
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("the first page shows code, a chart and a comparison", async () => {
    const { page } = await open(DESKTOP, "light");
    await go(page, "index.html");
    const main = page.locator("main");
    expect(await main.locator("pre").count()).toBeGreaterThanOrEqual(3);
    expect(await main.locator("table").count()).toBe(2);
    await page.close();
  });

  test.each(
    [
      ["a wide page", DESKTOP, "light", "/overview-node.png"],
      ["a wide dark page", DESKTOP, "dark", "/overview-node-dark.png"],
      ["a phone", PHONE, "light", "/overview-node-phone.png"],
      ["a dark phone", PHONE, "dark", "/overview-node-phone-dark.png"],
    ] as const,
  )("a chart is in the look for %s", async (_, viewport, scheme, file) => {
    const { page, complaints } = await open(viewport, scheme);
    await go(page, "index.html");
    const images = page.locator("main picture img:visible");
    await images.first().waitFor(); // it has no size before it is loaded
    expect(await images.count()).toBe(1);
    const image = images.first();
    await image.scrollIntoViewIfNeeded();
    const shown = () =>
      image.evaluate((element) => {
        const { currentSrc, naturalWidth } = element as HTMLImageElement;
        return naturalWidth > 300 ? new URL(currentSrc).pathname : "";
      });
    await expect.poll(shown, { timeout: 20_000 }).toMatch(new RegExp(`${file}$`));
    expect(complaints).toEqual([]);
    await page.close();
  });
});
