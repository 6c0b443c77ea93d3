/** The built site over HTTP, and nothing else. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

export interface Served {
  readonly origin: string;
  close(): void;
}

/** Serves a folder on a free port. */
export function serve(folder: string): Promise<Served> {
  const server = createServer(({ url = "/" }, response) => {
    const path = decodeURIComponent(new URL(url, "http://site").pathname);
    const found = [path, `${path}.html`, `${path}/index.html`]
      .map((name) => join(folder, name))
      .find((file) => existsSync(file) && statSync(file).isFile());
    if (found === undefined) return void response.writeHead(404).end("not found");
    response.writeHead(200, { "content-type": TYPES[extname(found)] ?? "text/plain" });
    response.end(readFileSync(found));
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({ origin: `http://127.0.0.1:${port}`, close: () => server.close() });
    });
  });
}
