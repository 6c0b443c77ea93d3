/** `node main.ts [ITEMS]`: how long a server takes to answer "ok" while it makes a PDF document, without a worker and in one. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createPool } from "heddle";
import { type Invoice, toPdf } from "./tasks.ts";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(url);
await pool.ready;

const makers: Record<string, (invoice: Invoice) => Uint8Array | Promise<Uint8Array>> = {
  "without-a-worker": toPdf,
  "in-a-worker": pool.call.toPdf.with({ timeoutMs: 30_000 }),
};

const server = createServer(async (request, response) => {
  const [, maker = "", count] = (request.url ?? "").split("/");
  const makePdf = makers[maker];
  if (makePdf === undefined) return void response.end("ok");
  try {
    const items = Array.from(
      { length: Number(count) },
      (_, n) => ({ name: `item ${n}`, price: n }),
    );
    const document = await makePdf({ customer: "Ada (London)", items });
    response.setHeader("content-type", "application/pdf").end(document);
  } catch {
    response.writeHead(503).end();
  }
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const get = async (path: string): Promise<string> =>
  new TextDecoder("latin1").decode(
    await (await fetch(`http://127.0.0.1:${port}/${path}`)).arrayBuffer(),
  );

for (const maker of Object.keys(makers)) {
  const made = get(`${maker}/${process.argv[2] ?? 2000}`);
  const startedAt = performance.now();
  const other = await get("health");
  const ms = Math.round(performance.now() - startedAt);
  const pdf = await made;
  const [, start] = /startxref\n(\d+)\n%%EOF\n$/.exec(pdf)!; // where the table of the objects is
  const pages = /\/Count (\d+)/.exec(pdf)![1];
  console.log(
    `${maker}: ${other} after ${ms} ms,`,
    pages,
    "pages,",
    pdf.slice(Number(start), Number(start) + 4),
  );
}
server.closeAllConnections();
server.close();
await pool.shutdown();
