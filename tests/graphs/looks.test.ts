/** The looks of charts: what changes on a dark ground and on a phone, and that nothing else does. */
import { expect, test } from "vitest";
import { barChart } from "../../graphs/bar-chart.ts";
import { DARK_COLORS, forPhone, recolored, wrapped } from "../../graphs/looks.ts";
import type { ScenarioResult } from "../../benchmarks/harness/schema.ts";

const result = {
  scenario: "hot",
  runtime: "node",
  version: "26.0.0",
  date: "2026-11-26T00:00:00.000Z",
  machine: { cpu: "a processor with a name that takes most of a line", cores: 2 },
  measurements: [],
} as unknown as ScenarioResult;

const chartOf = (...groups: readonly string[]): Record<string, unknown> =>
  barChart([result], {
    name: "a-chart",
    heading: "A heading that is so long that it takes two lines on a phone",
    xAxis: "what",
    yAxis: "µs",
    groups,
    bars: [{
      label: "heddle",
      color: "#0072B2",
      values: groups.map(() => ({ value: 2, samples: 3 })),
    }],
  })[0]!.config;

interface Drawn {
  readonly data: { readonly labels: unknown; readonly datasets: unknown };
  readonly options: {
    readonly plugins: { readonly title: { readonly text: string | readonly string[] } };
    readonly scales: { readonly x: { readonly ticks: { readonly minRotation?: number } } };
  };
}

const phoneOf = (...groups: readonly string[]): Drawn =>
  forPhone(chartOf(...groups)) as unknown as Drawn;

test("a phone gets the same data, with a title in lines that fit", () => {
  const { data, options } = phoneOf("one", "two");
  const wide = chartOf("one", "two") as unknown as Drawn;
  expect(data.datasets).toEqual(wide.data.datasets);
  const { text } = options.plugins.title;
  expect([text].flat().join(" ")).toBe(wide.options.plugins.title.text);
  expect([text].flat().length).toBeGreaterThan(1);
});

test("labels wrap where they fit, and are slanted where a word does not", () => {
  const few = phoneOf("one small object", "a hundred of them");
  expect(few.data.labels).toEqual([["one small object"], ["a hundred of them"]]);
  const four = phoneOf("one small object", "a hundred small objects", "text", "bytes");
  expect(four.data.labels).toEqual([
    ["one small", "object"],
    ["a hundred", "small objects"],
    ["text"],
    ["bytes"],
  ]);
  const many = phoneOf(...Array.from({ length: 12 }, (_, index) => `contender ${index}`));
  expect(many.data.labels).toContain("contender 3");
  expect(many.options.scales.x.ticks.minRotation).toBeGreaterThan(0);
});

test("a config is left as it was", () => {
  const config = chartOf("one small object", "two");
  const before = structuredClone(config);
  forPhone(config);
  recolored(config, DARK_COLORS);
  expect(config).toEqual(before);
});

test("on a dark ground colours that would not be seen are others", () => {
  const text = JSON.stringify(recolored(chartOf("one"), DARK_COLORS));
  expect(text).toContain(DARK_COLORS["#0072B2"]);
  expect(text).not.toContain("#0072B2");
  expect(new Set(Object.values(DARK_COLORS)).size).toBe(Object.keys(DARK_COLORS).length);
});

test("a word that is longer than a line has a line of its own", () => {
  expect(wrapped("to a worker_threads-by-hand and back", 10))
    .toEqual(["to a", "worker_threads-by-hand", "and back"]);
});
