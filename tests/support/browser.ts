/** A browser for tests of pages: the Chromium of `@sparticuz/chromium`, or of CHROMIUM_PATH. */
import { spawnSync } from "node:child_process";
import sparticuz from "@sparticuz/chromium";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { PNG } from "pngjs";

/** The package has a browser for Linux on x64. */
export const hasBrowser: boolean = process.env["CHROMIUM_PATH"] !== undefined ||
  (process.platform === "linux" && process.arch === "x64");

/** A Firefox of this machine, if there is one. */
export const firefox: string | undefined = [
  process.env["FIREFOX_PATH"],
  "firefox",
  "firefox-esr",
].find((name) => name !== undefined && spawnSync(name, ["--version"]).status === 0);

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? await sparticuz.executablePath();
  // Its own arguments switch cross-origin isolation off.
  return await chromium.launch({ executablePath, args: ["--no-sandbox"], headless: true });
}

/** What a page complains about: errors, warnings, and requests of which `isAllowed` is false. */
export function complaintsOf(page: Page, isAllowed: (url: string) => boolean): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!isAllowed(request.url())) complaints.push(`fetches ${request.url()}`);
  });
  return complaints;
}

/** Pixels of an edge that are read, and those beside them that may belong to a border. */
const EDGE = 3;
const BORDER = 2;
/** Mean difference to the background from which on an edge is a shadow. */
const MIN_SHADOW = 25;

/** The edges of a box that differ from its background, its most frequent colour. */
async function shadedEdges(box: Locator): Promise<string> {
  const { data, width, height } = PNG.sync.read(await box.screenshot());
  const counts = new Uint32Array(256);
  for (let at = 0; at < data.length; at += 4) counts[data[at]!]!++;
  const background = counts.indexOf(Math.max(...counts));
  const isShaded = (from: number): boolean => {
    let sum = 0;
    for (let y = 0; y < height; y++) {
      for (let x = from; x < from + EDGE; x++) {
        sum += Math.abs(data[4 * (y * width + x)]! - background);
      }
    }
    return sum / (EDGE * height) > MIN_SHADOW;
  };
  const edges = [isShaded(BORDER) && "left", isShaded(width - BORDER - EDGE) && "right"];
  return edges.filter((edge) => edge !== false).join();
}

/** The edges of a box that show that more of it is there: as it is, and after it was scrolled to its right end. */
export async function shadowsOf(box: Locator): Promise<readonly [string, string]> {
  const before = await shadedEdges(box);
  await box.evaluate((element) => element.scrollLeft = element.scrollWidth);
  return [before, await shadedEdges(box)];
}
