/** A web server that hashes passwords in workers, so that it answers other requests meanwhile. */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { streamSSE } from "hono/streaming";
import { createPool, PoolClosedError, QueueFullError, TimeoutError, WorkerLostError } from "heddle";
import { listen } from "./listen.ts";

const pool = createPool({ threads: 1, maxQueue: 8 })<typeof import("./tasks.ts")>(
  new URL("./tasks.ts", import.meta.url),
);
const hashPassword = pool.call.hashPassword.with({ runTimeoutMs: 5000 });

const isUnavailable = (error: unknown): boolean =>
  [QueueFullError, PoolClosedError, WorkerLostError].some((kind) => error instanceof kind);

const app = new Hono();
app.use(bodyLimit({ maxSize: 64 << 10 })); // larger bodies get 413 before they fill the memory
const closing = new AbortController();
app.use(async (context, next) => {
  await next();
  // Or a client with a request after the other holds its connection, and so the server.
  if (closing.signal.aborted) context.header("connection", "close");
});
app.get("/health", (context) => context.text("ok"));
app.post("/hash", async (context) => {
  try {
    return context.text(await hashPassword(await context.req.text(), "salt"));
  } catch (error) {
    if (isUnavailable(error)) return context.text("busy", 503, { "retry-after": "1" });
    if (error instanceof TimeoutError) return context.text("too slow", 504);
    throw error;
  }
});

// Server-sent events: a stream that ends when its client leaves, or the server closes.
app.get("/clock", (context) =>
  streamSSE(context, async (stream) => {
    const seconds = pool.call.clock();
    const end = () => void seconds.return();
    stream.onAbort(end);
    closing.signal.addEventListener("abort", end);
    for await (const second of seconds) await stream.writeSSE({ data: String(second) });
    closing.signal.removeEventListener("abort", end);
  }));

const server = await listen(app.fetch);
console.log(`listening on port ${server.port}`);

process.once("SIGTERM", async () => {
  closing.abort();
  await Promise.race([server.close(), delay(3000)]); // requests that have arrived are answered
  await pool.shutdown();
  console.log("stopped");
  process.exit(); // cuts what is left: clients may hold a connection for ever
});
