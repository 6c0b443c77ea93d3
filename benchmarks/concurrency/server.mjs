/**
 * The server that all contenders ask: answers every request with its own path after `delayMs`, and keeps connections
 * open. Prints its port, and ends when its standard input does. Plain JavaScript, run by Node.
 */
import { createServer } from "node:http";

/** Every task may connect in the same moment. */
const BACKLOG = 4096;
const KEEP_ALIVE_MS = 60_000;

const delayMs = Number(process.argv[2]);
const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, ({ url }, response) => {
  setTimeout(() => response.end(url), delayMs);
});
server.listen({ port: 0, host: "127.0.0.1", backlog: BACKLOG }, () => {
  process.stdout.write(`${server.address().port}\n`);
});
process.stdin.resume().on("close", () => process.exit(0));
