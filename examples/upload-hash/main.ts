/** A web server that hashes uploads in a worker while they arrive. A slow worker slows the sender down. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createPool } from "heddle";

const url = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./tasks.ts")>(url);

const server = createServer(async (request, response) => {
  response.end(await pool.call.sha256(request)); // the request is a stream of its body
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;

const body = new Uint8Array(5_000_000).fill(7);
const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body });
console.log(await response.text());

// The body of a `fetch` request or response, a ReadableStream, can be sent as well.
console.log(await pool.call.sha256(new Response(body).body!));

server.closeAllConnections();
server.close();
await pool.shutdown();
