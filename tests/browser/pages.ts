/** Serves folders as pages, and reads what a page prints. */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Browser, Page } from "playwright-core";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
};

/** Headers that let a page share memory with its workers. */
export const ISOLATED: Readonly<Record<string, string>> = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};
/** Lets pages of other origins, and frames without one, load files. */
export const CORS: Readonly<Record<string, string>> = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
};
/** A policy without exceptions: no code but the page's own files. */
export const STRICT: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "default-src 'self'; script-src 'self'; worker-src 'self'",
};

export interface Site {
  readonly url: string;
  close(): Promise<void>;
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Serves `folder` with these headers. `answer` may answer first. */
export async function serveFolder(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
  answer: Answer = () => false,
): Promise<Site> {
  const server: Server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (answer(request, response)) return;
    const path = new URL(request.url!, "http://host").pathname;
    void readFile(join(folder, path)).then((bytes) => {
      response.setHeader("Content-Type", TYPES[extname(path)] ?? "application/octet-stream");
      response.end(bytes);
    }, () => {
      response.statusCode = 404;
      response.end("missing");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** What the program in `program/` makes of its calls. */
export const expected = (transport: string): unknown[] => [
  3,
  transport,
  125_250,
  true,
  "blob",
  "RangeError 7",
  "HEDDLE_TIMEOUT",
  "enough",
  5,
  "closed",
];

/** The page of a script. */
export const pageOf = (script: string, head = ""): string =>
  `<!doctype html><title>heddle</title>${head}<script type="module" src="${script}"></script>`;

/** Opens `path` of a folder that is served with these headers, in a context of its own. */
export async function openPage<Result>(
  browser: Browser,
  { folder, headers, answer, path = "/index.html" }: {
    readonly folder: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly answer?: Answer | undefined;
    readonly path?: string;
  },
  use: (page: Page, site: Site) => Promise<Result>,
): Promise<Result> {
  const site = await serveFolder(folder, headers, answer);
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(site.url + path);
    return await use(page, site);
  } finally {
    await context.close();
    await site.close();
  }
}

/** What the page at `url` prints after `RESULT `, as JSON. */
export async function resultOf(
  browser: Browser,
  url: string,
  onPage: (page: Page) => Promise<void> | void = () => {},
): Promise<unknown> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await onPage(page);
    const result = new Promise<unknown>((resolve, reject) => {
      page.on("console", (message) => {
        const [, json] = /^RESULT (.*)$/s.exec(message.text()) ?? [];
        if (json !== undefined) resolve(JSON.parse(json));
        else if (message.type() === "error") console.log(message.text());
      });
      page.on("pageerror", reject);
    });
    await page.goto(url);
    return await result;
  } finally {
    await context.close();
  }
}
