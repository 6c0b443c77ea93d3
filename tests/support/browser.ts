/** A browser for tests of pages: the Chromium of `@sparticuz/chromium`, or of CHROMIUM_PATH. */
import { spawnSync } from "node:child_process";
import sparticuz from "@sparticuz/chromium";
import { type Browser, chromium, type Page } from "playwright-core";

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
