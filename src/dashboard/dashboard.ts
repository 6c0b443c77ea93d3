/** `dashboard()`: a page about pools and their metrics, as a handler of requests for any server. */
import { JSON, URL } from "../builtins.ts";
import type { PoolStatistics } from "../features/watching/observe/host/pool-statistics.ts";
import { InvalidArgumentError } from "../errors.ts";
import { PAGE } from "./page.ts";
import { PROMETHEUS_TYPE, toPrometheus } from "./prometheus.ts";

/** What the dashboard reads of a pool. */
export interface ObservedPool {
  /** The counters, workers and tasks of the pool as of now. */
  stats(): PoolStatistics;
}

/** The page loads nothing but the statistics, and runs nothing but its own script. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; " +
    "img-src data:; base-uri 'none'; form-action 'none'",
};

/**
 * Creates a handler of requests that answers, by the end of the path: `/metrics` with the metrics of the pools in
 * Prometheus' text format, `/stats.json` with their `stats()` by name, and anything else with a page that shows pools,
 * workers, queues and latencies, and follows them once a second. It reads the pools when it is asked, and nothing else;
 * the page needs no network. It checks no access: mount it where only operators may read, since names of tasks and the load
 * of a program are visible. Throws InvalidArgumentError unless each of `pools` has a method `stats`. The handler keeps its pools
 * referenced.
 *
 * @example
 * ```ts
 * import { createPool } from "heddle";
 * import { dashboard } from "heddle/dashboard";
 *
 * const url = new URL("./tasks.ts", import.meta.url);
 * const images = createPool({ threads: 2, metrics: true })<typeof import("./tasks.ts")>(url);
 * const show = dashboard({ images });
 * Deno.serve((request) => new URL(request.url).pathname.startsWith("/pools")
 *   ? show(request)
 *   : new Response("hello"));
 * ```
 */
export function dashboard(
  pools: Readonly<Record<string, ObservedPool>>,
): (request: Request) => Response {
  const named = Object.entries(pools);
  for (const [name, pool] of named) {
    if (typeof (pool as Partial<ObservedPool> | null)?.stats === "function") continue;
    throw new InvalidArgumentError(
      `dashboard() takes an object of pools by name; "${name}" has no method stats().`,
    );
  }
  const read = () => named.map(([name, pool]) => [name, pool.stats()] as const);
  return (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Only GET and HEAD.", { status: 405, headers: { allow: "GET, HEAD" } });
    }
    const { pathname } = new URL(request.url);
    const [body, headers] = pathname.endsWith("/metrics")
      ? [toPrometheus(read()), { "content-type": PROMETHEUS_TYPE }]
      : pathname.endsWith("/stats.json")
      ? [JSON.stringify(Object.fromEntries(read())), { "content-type": "application/json" }]
      : [PAGE, PAGE_HEADERS];
    return new Response(request.method === "HEAD" ? null : body, {
      headers: { ...headers, "cache-control": "no-store", "x-content-type-options": "nosniff" },
    });
  };
}
