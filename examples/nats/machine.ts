/** A worker machine. Start as many as needed; Ctrl-C ends one, SIGTERM lets it finish its calls first. */
import { serve } from "heddle/nats";

const server = serve({
  servers: process.env["NATS_SERVERS"] ?? "127.0.0.1:4222",
  subject: "primes",
})<typeof import("./tasks.ts")>(new URL("./tasks.ts", import.meta.url));
await server.ready;
console.log(`${server.name} serves`);
