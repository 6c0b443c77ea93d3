/**
 * Which files are features, which are the kernel (what a plain program needs: a pool, calls, workers, ordinary values), and how
 * often the kernel imports a feature at run time. The number only falls, until features attach to the kernel by themselves.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../src", import.meta.url));

/** The files of each feature. */
const FEATURES: Readonly<Record<string, readonly RegExp[]>> = {
  "streams and events": [
    /^streams\/(?!is-thenable|generator-functions)/,
    /^(host|worker)\/streams\//,
    /^api\/(calls\/stream-calls|pool\/streams|options\/stream-options)\./,
    /^lane\/item-batch\./,
    /^worker\/calls\/task-events\./,
    /^codec\/support\/stream-argument\./,
  ],
  "limits of calls": [
    /^host\/limits\//,
    /^host\/calls\/late-runs\./,
    /^sync\/abort-epochs\./,
    /^worker\/calls\/abort-signals\./,
    /^api\/options\/(any-signal|limit-options)\./,
    /^host\/workers\/(abandoned-threads|stopped-workers)\./,
    /^api\/pool\/limits\./,
  ],
  "bounded queue": [/^(host\/dispatch\/queue\/backpressure|api\/pool\/queue-bound)\./],
  "keys and broadcasts": [
    /^host\/dispatch\/(broadcasts|queue\/(pinned-calls|key-slots))\./,
    /^api\/(calls\/broadcast-proxy|pool\/broadcasts|options\/broadcast-options)\./,
  ],
  "work stealing": [/^host\/schedule\/work-stealing\./],
  "number of workers": [
    /^host\/scaling\/(?!pool-size)/,
    /^api\/options\/thread-budget\./,
    /^worker\/memory-watch\./,
    /^host\/workers\/(draining-lanes|recycling)\./,
  ],
  "balancers, calls on the host": [
    /^host\/schedule\/balancers\./,
    /^host\/dispatch\/queue\/inline-executor\./,
    /^host\/workers\/unavailable-threads\./,
    /^api\/(pool\/(host-worker|inlining)|options\/inline-options)\./,
    /^realm\/host-workers\./,
  ],
  "observation": [
    /^(api|host)\/observe\//,
    /^worker\/(observing|profiling|calls\/call-context)\./,
    /^api\/pool\/(observing|pool-statistics)\./,
    /^metering\/(call-metrics|debug-line|log-histogram)\./,
    /^api\/options\/observe-options\./,
    /^runtimes\/profiler\./,
  ],
  "requests of workers": [
    /^(host|worker)\/requests\//,
    /^(api\/pool|protocol)\/host-requests\./,
    /^api\/(calls\/(callback|current-pool)|tasks\/host|options\/(host|nested)-options)\./,
    /^codec\/support\/callback\./,
  ],
  "map and scopes": [
    /^api\/(map|scopes)\//,
    /^api\/(calls\/mappable|options\/scope-options)\./,
    /^worker\/calls\/chunks\./,
  ],
  "pool.sync": [
    /^host\/dispatch\/blocking-wait\./,
    /^api\/(pool\/block(ing|able-timers)|calls\/sync-proxy)\./,
  ],
  "structs and validation": [
    /^codec\/struct\//,
    /^api\/tasks\/(validation|standard-schema)\./,
  ],
  // Not of them: what refuses proxies and marked objects, which ordinary values may be; descriptions of values, which checks of
  // options use; and agreements through `globalThis`, the seams between copies of heddle (brands, struct views, realm/handles).
  "rare values": [
    /^api\/options\/transfer-option\./,
    /^codec\/(rare-values|kinds\/(borrow|handles|wrappers|other-objects)|support\/(transfer|platform|path))\./,
  ],
  "mirrored lanes": [
    /^api\/options\/transport\./,
    /^lane\/mirror\//,
    /^lane\/gated-consumer\./,
    /^worker\/mirrored\./,
    /^protocol\/mirrored-start\./,
    /^host\/workers\/mirrored-connection\./,
  ],
};

/** Entry points and what builds on them. */
const ABOVE = /^(mod[-.]|features\/|nats\/|compat\/|dashboard\/|shared\/)/;

/** Imports of features at run time by files of the kernel. */
const LIMIT = 94;

interface Source {
  readonly path: string;
  readonly imports: readonly string[];
}

/** True for an import whose names are types only, which is none when the program runs. */
function isOfTypes(clause: string): boolean {
  const names = /^(?:import|export)\s+\{([^}]*)\}/.exec(clause)?.[1];
  if (names === undefined) return /^(?:import|export)\s+type\b/.test(clause);
  return names.split(",").map((name) => name.trim()).filter(Boolean)
    .every((name) => name.startsWith("type "));
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => path.split(sep).join("/"))
  .map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const clauses = [...text.matchAll(/^((?:import|export)\b[^;"]*?)from "(\.[^"]+)"/gms)];
    return {
      path,
      imports: clauses.filter(([, clause]) => !isOfTypes(clause!))
        .map(([, , specifier]) => posix.join(posix.dirname(path), specifier!)),
    };
  });

const featureOf = (path: string): string | undefined =>
  Object.entries(FEATURES).find(([, patterns]) => patterns.some((of) => of.test(path)))?.[0];

test("each pattern names files", () => {
  for (const pattern of Object.values(FEATURES).flat()) {
    expect([pattern.source, sources.some(({ path }) => pattern.test(path))])
      .toEqual([pattern.source, true]);
  }
});

test("the kernel imports features no more often than before", () => {
  const kernel = sources.filter(({ path }) => featureOf(path) === undefined && !ABOVE.test(path));
  const found = kernel.flatMap(({ path, imports }) =>
    imports.filter((to) => featureOf(to) !== undefined).map((to) => `${path} → ${to}`)
  );
  expect(found.length, found.join("\n")).toBeLessThanOrEqual(LIMIT);
});
