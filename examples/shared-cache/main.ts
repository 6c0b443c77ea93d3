/** A web server whose workers share one cache of rendered pages. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createPool } from "heddle";
import { AtomicCounter, SharedCache } from "heddle/shared";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2 })<typeof import("./tasks.ts")>(url);
const pages = new SharedCache<string, string>({ maxEntries: 50 });
const rendered = new AtomicCounter();

const server = createServer(async (request, response) => {
  response.end(await pool.call.page(request.url!, pages, rendered));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;

async function request(paths: readonly string[]): Promise<void> {
  const before = rendered.value;
  await Promise.all(paths.map(async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    await response.text();
  }));
  const misses = rendered.value - before;
  console.log(`${paths.length} requests: ${paths.length - misses} hits, ${misses} misses`);
}

const popular = Array.from({ length: 10 }, (_, n) => `/popular/${n}`);
await request([...popular, ...popular, ...popular]);
await request(popular);
await request(Array.from({ length: 60 }, (_, n) => `/rare/${n}`));
console.log(`${pages.size} pages in the cache`);

server.closeAllConnections();
server.close();
await pool.shutdown();
