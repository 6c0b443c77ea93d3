/** A server whose traces continue in the workers of its pool, with a page and metrics about the pool. */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { Hono } from "hono";
import { createPool } from "heddle";
import { dashboard } from "heddle/dashboard";
import { listen } from "../server/listen.ts";
import { capture, tracer } from "./tracing.ts";

const pool = createPool({
  threads: 1,
  metrics: true,
  context: { capture, run: new URL("./tracing.ts", import.meta.url) },
})<typeof import("./tasks.ts")>(new URL("./tasks.ts", import.meta.url));
pool.addEventListener("workerExit", ({ detail }) => console.log(detail.reason));

const app = new Hono();
app.get("/primes/:limit", (request) =>
  tracer.startActiveSpan("GET /primes", async (span) => {
    try {
      return request.json(await pool.call.countPrimes(Number(request.req.param("limit"))));
    } finally {
      span.end();
    }
  }));
const show = dashboard({ primes: pool }); // /pools shows the page, /pools/metrics is for Prometheus
app.get("/pools", (request) => show(request.req.raw));
app.get("/pools/*", (request) => show(request.req.raw));

const server = await listen(app.fetch);
console.log(`listening on port ${server.port}`);

process.once("SIGTERM", async () => {
  await Promise.race([server.close(), delay(3000)]);
  await pool.shutdown();
  process.exit();
});
