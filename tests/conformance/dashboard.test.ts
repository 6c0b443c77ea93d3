/** The handler of the dashboard: its answers, and the metrics in Prometheus' text format. */
import { describe, expect, test } from "vitest";
import { InvalidArgumentError } from "../../src/mod.ts";
import { dashboard } from "../../src/mod-dashboard.ts";
import { begun, rejection, release, sharedWords, testPool } from "../support/conformance.ts";

const ask = (show: (request: Request) => Response, path: string, init?: RequestInit): Response =>
  show(new Request(`http://localhost${path}`, init));

/** Samples by name and labels; fails for anything that the format does not allow. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  const done = new Set<string>();
  let current = "";
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.trimEnd().split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, kind, name, value] = comment as unknown as [string, string, string, string];
      if (kind === "TYPE") types.set(name, value);
      if (name !== current) expect(done.has(name)).toBe(false);
      done.add(current = name);
      continue;
    }
    const label = String.raw`[a-z]+="(?:[^"\\\n]|\\[\\n"])*"`;
    const sample = new RegExp(`^([a-z_]+)\\{${label}(?:,${label})*\\} (\\S+)$`).exec(line);
    expect([line, sample === null]).toEqual([line, false]);
    const base = types.get(current) === "histogram"
      ? sample![1]!.replace(/_(?:bucket|sum|count)$/, "")
      : sample![1]!;
    expect(base).toBe(current);
    const value = Number(sample![2]);
    expect([line, Number.isFinite(value)]).toEqual([line, true]);
    const key = line.slice(0, line.lastIndexOf(" "));
    expect(samples.has(key)).toBe(false);
    samples.set(key, value);
  }
  return samples;
}

describe("dashboard()", () => {
  test("answers /metrics in Prometheus' text format", async () => {
    const pool = testPool({ threads: 2, metrics: true });
    await pool.ready;
    for (let n = 0; n < 3; n++) await pool.call.burn(1);
    await rejection(pool.call.fail("Error"));
    const other = testPool({ threads: 1 });
    const show = dashboard({ main: pool, 'odd "name"\\\n': other });
    const response = ask(show, "/any/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const samples = parse(await response.text());
    expect(samples.get('heddle_calls_total{pool="main",task="burn",outcome="completed"}')).toBe(3);
    expect(samples.get('heddle_calls_total{pool="main",task="fail",outcome="failed"}')).toBe(1);
    expect(samples.get('heddle_workers_started_total{pool="main"}')).toBe(2);
    const sum = samples.get('heddle_task_run_seconds_sum{pool="main",task="burn"}')!;
    const count = samples.get('heddle_task_run_seconds_count{pool="main",task="burn"}')!;
    expect(sum / count).toBeGreaterThanOrEqual(0.001);
    const bucket = (le: string): number | undefined =>
      samples.get(`heddle_task_run_seconds_bucket{pool="main",task="burn",le="${le}"}`);
    expect(bucket("0.0005")).toBe(0); // each takes a millisecond
    expect(bucket("+Inf")).toBe(count);
    expect(bucket("60")).toBe(count);
    const bounds = [...samples.keys()].flatMap((key) =>
      /^heddle_task_run_seconds_bucket\{pool="main",task="burn",le="(.+)"\}$/.exec(key)?.[1] ?? []
    );
    const counts = bounds.map((le) => bucket(le)!);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(bounds.slice(0, 4)).toEqual(["0.00001", "0.000025", "0.00005", "0.0001"]);
    expect(bounds.slice(-4)).toEqual(["5", "10", "60", "+Inf"]);
    expect(bounds).toHaveLength(21);
    expect(samples.get('heddle_calls_queued{pool="odd \\"name\\"\\\\\\n"}')).toBe(0);
    // Nothing was measured there.
    const odd = [...samples.keys()].filter((key) => key.includes("odd"));
    expect(odd.filter((key) => key.startsWith("heddle_task"))).toEqual([]);
  });

  test("counts refused calls, which have failed as well", async () => {
    const pool = testPool({ threads: 1, maxQueue: 2 });
    const show = dashboard({ main: pool });
    await pool.ready;
    const words = sharedWords();
    const calls = Array.from({ length: 20 }, () => pool.call.hold(1, words).catch(() => "refused"));
    await begun(words);
    for (let n = 0; n < 1100; n++) calls.push(pool.call.hold(1, words).catch(() => "refused"));
    await Promise.resolve();
    const { refused, failed } = pool.stats();
    expect(refused).toBeGreaterThan(0);
    expect(failed).toBe(refused);
    const samples = parse(await ask(show, "/metrics").text());
    expect(samples.get('heddle_calls_refused_total{pool="main"}')).toBe(refused);
    release(words);
    const outcomes = await Promise.all(calls);
    expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(refused);
    expect(pool.stats().refused).toBe(refused);
  });

  test("answers /stats.json, and anything else with a page without markup from outside", async () => {
    const pool = testPool({ threads: 1 });
    await pool.call.add(1, 2);
    const show = dashboard({ "</script><b>": pool });
    const stats = await ask(show, "/stats.json").json() as Record<string, object>;
    expect(stats["</script><b>"]).toMatchObject({ completed: 1, workers: [{ id: 0 }] });
    const page = ask(show, "/");
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const text = await page.text();
    expect(text).toContain("<title>heddle pools</title>");
    expect(text.match(/<\/script/g)).toHaveLength(1);
    expect(text).not.toContain("<b>");
  });

  test("takes only GET and HEAD", async () => {
    const show = dashboard({});
    const post = ask(show, "/metrics", { method: "POST" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const head = ask(show, "/metrics", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("refuses what is not a pool", () => {
    expect(() => dashboard({ wrong: {} as never })).toThrow(InvalidArgumentError);
  });
});
