/** Charts of `shared`: reading a map, channels, and mutexes, each beside what it is compared with. */
import {
  CALL,
  CHANNEL,
  CHANNEL_ALONE,
  CHANNEL_CONTENDERS,
  CLONE,
  CROSSBEAM,
  GET,
  GO,
  HEDDLE,
  LOCKING_THREADS,
  MAP,
  MAP_CONTENDERS,
  MUTEX,
  MUTEX_CONTENDERS,
  NUMBER_BYTES,
  RING,
  RUST,
  TOKIO,
  VALUE_BYTES,
} from "../benchmarks/scenarios/shared-cases.ts";
import { barChart, figureOf, nameOf, type Results } from "./bar-chart.ts";
import { type ChartSpec, COLORS } from "./style.ts";

const BAR_COLORS: Readonly<Record<string, string | undefined>> = {
  [HEDDLE]: COLORS["heddle"],
  [CALL]: COLORS["heddle (JSON text)"],
  [MAP]: "#999999",
  [CLONE]: COLORS["structuredClone"],
  [RING]: COLORS["raw ring floor"],
  [GO]: "#CC79A7",
  [RUST]: COLORS["Piscina"],
  [CROSSBEAM]: COLORS["postMessage"],
  [TOKIO]: COLORS["tokio mpsc + oneshot"],
};

interface Place {
  readonly label: string;
  readonly case: string;
  readonly size: number;
}

interface Chart {
  readonly name: string;
  readonly heading: string;
  readonly xAxis: string;
  readonly contenders: readonly string[];
  readonly places: readonly Place[];
  /** The label of heddle's bars. */
  readonly ours: string;
}

function chart(results: Results, { contenders, places, ours, ...rest }: Chart): ChartSpec[] {
  const groups = results.flatMap((result) => places.map((place) => ({ result, place })));
  return barChart(results, {
    ...rest,
    yAxis: "ns (logarithmic, lower is better)",
    isLogarithmic: true,
    groups: groups.map(({ result, place }) => [nameOf(result), place.label]),
    bars: contenders.map((contender) => ({
      label: contender === HEDDLE ? ours : contender,
      color: BAR_COLORS[contender],
      values: groups.map(({ result, place }) =>
        figureOf(
          result,
          "p50",
          (each) =>
            each.contender === contender && each.case === place.case && each.size === place.size,
        )
      ),
    })),
  });
}

export function sharedCharts(results: Results): ChartSpec[] {
  return [
    ...chart(results, {
      name: "shared-map",
      heading: "Reading a value that another thread may change (median)",
      xAxis: "runtime, and what is read",
      contenders: MAP_CONTENDERS,
      ours: "SharedMap.get",
      places: VALUE_BYTES.map((size) => ({
        label: size === NUMBER_BYTES ? "number" : "object of 200 B",
        case: GET,
        size,
      })),
    }),
    ...chart(results, {
      name: "shared-channel",
      heading: "A number through a channel: sending and receiving it (median)",
      xAxis: "runtime in whose run it was measured, and threads",
      contenders: CHANNEL_CONTENDERS,
      ours: "heddle",
      places: [CHANNEL_ALONE, CHANNEL].map((name) => ({
        label: name.split(", ")[1]!,
        case: name,
        size: NUMBER_BYTES,
      })),
    }),
    ...chart(results, {
      name: "shared-mutex",
      heading: "A mutex: taking and releasing it (median)",
      xAxis: "runtime in whose run it was measured, and threads that want the mutex",
      contenders: MUTEX_CONTENDERS,
      ours: "heddle",
      places: LOCKING_THREADS.map((size) => ({
        label: size === 1 ? "1 thread" : `${size} threads`,
        case: MUTEX,
        size,
      })),
    }),
  ];
}
