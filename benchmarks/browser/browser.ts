import { runBrowser } from "../scenarios/browser.ts";

await runBrowser();
