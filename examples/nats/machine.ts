/** A worker machine. Start as many as needed; Ctrl-C ends one, SIGTERM lets it finish its calls first. */
import { serve } from "heddle/nats";

const server = serve<typeof import("./tasks.ts")>(new URL("./tasks.ts", import.meta.url), {
  servers: process.env["NATS_SERVERS"] ?? "127.0.0.1:4222",
  subject: "primes",
});
await server.ready;
console.log(`${server.name} serves`);
