/**
 * The one shape of every result, whatever runtime or language produced it; `result.schema.json` says the same to
 * tools. `benchmarks/tokio` prints figures of a round in it.
 */

export type Unit = "ns" | "µs" | "ms" | "s" | "%" | "bytes" | "MiB" | "requests" | "requests/s";

/** One contender doing one thing. */
export interface Measurement {
  /** `f64 echo`, `void call`, `main + 1`, a kind of payload … */
  readonly case: string;
  /** Calls in flight at once, threads, or bytes of a payload; the x of a chart. */
  readonly size: number;
  readonly contender: string;
  /** Unit of all figures below. Percent are of a core. */
  readonly unit: Unit;
  /** Medians over the rounds of each round's figure. */
  readonly p50: number;
  readonly p75: number;
  readonly p99: number;
  /** Where it is asked for, and there are a thousand samples a round. */
  readonly p999?: number;
  readonly mean: number;
  readonly min: number;
  /** Raw samples by round, sorted, evenly thinned out to at most `MAX_KEPT_SAMPLES`. */
  readonly rounds: readonly (readonly number[])[];
  /** Samples taken in all rounds. */
  readonly samples: number;
  /** p50 relative to the raw ring floor at the same size, where there is one. */
  readonly ratioToFloor?: number;
  /** Heavy load: against the main thread alone, and that divided by the threads. */
  readonly speedUp?: number;
  readonly efficiency?: number;
  /** Payloads and bursts: calls in a batch, and p50 divided by them. */
  readonly calls?: number;
  readonly perCall?: number;
  /** Payload growth: 10^9 bytes per second, one way. */
  readonly gigabytesPerSecond?: number;
  /** Payloads and codecs: p50 relative to the scenario's baseline at the same case and size. */
  readonly ratioToBaseline?: number;
  /** p50 relative to a contender that was measured in turn with it. */
  readonly paired?: PairedRatio;
  /** Lateness: the same with p99. */
  readonly p99RatioToBaseline?: number;
  /** Idle cost, cold and sporadic: mean less that of the scenario's baseline at the same case. */
  readonly overBaseline?: number;
  /**
   * p50 and mean relative to another measurement: heavy load, the same split by hand; thread sweep and
   * fan-out, the same contender with one worker; mixed load, the long task called before; shared, a hot call.
   */
  readonly ratioToReference?: number;
  readonly meanRatioToReference?: number;
  /** Fan-out: the tasks' own time divided among the workers, and p50 relative to it. */
  readonly ideal?: number;
  readonly ratioToIdeal?: number;
}

/**
 * The median of the ratios of neighbours in time: blocks of one process, or fresh processes one after the other. `low` to `high` is
 * the 95 % interval of that median, by bootstrap.
 */
export interface PairedRatio {
  readonly to: string;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly pairs: number;
}

/** A combination that was not measured, and why. Without case: nothing of the contender. */
export interface Failure {
  readonly contender: string;
  readonly case?: string;
  readonly size?: number;
  readonly reason: string;
  /** Left out on purpose. Everything else went wrong. */
  readonly isSkipped?: boolean;
}

export interface ScenarioResult {
  readonly schema: 1;
  readonly scenario: string;
  readonly runtime: string;
  readonly version: string;
  readonly isQuick: boolean;
  readonly date: string;
  /** How long the scenario took, all processes together. */
  readonly seconds?: number;
  readonly commit: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly kernel: string;
    /** Of the first core's clock, where the system tells it. */
    readonly governor?: string;
  };
  /**
   * A fixed piece of work on every core before and after, and the quickest of the whole run. Busy: one of
   * the two took a quarter longer than that, so something else was running.
   */
  readonly reference?: {
    readonly beforeMs: number;
    readonly afterMs: number;
    readonly leastMs: number;
    readonly isBusy: boolean;
  };
  /** Versions of what was compared. */
  readonly versions: Readonly<Record<string, string>>;
  /** Cases in the order in which they were tried. */
  readonly cases?: readonly string[];
  readonly measurements: readonly Measurement[];
  readonly failures: readonly Failure[];
}

export const MAX_KEPT_SAMPLES = 60;

/** What one process of a scenario prints for each figure of its round. */
export interface RoundFigure {
  /** Where one process measures several. */
  readonly contender?: string;
  readonly case: string;
  readonly size: number;
  readonly unit: Unit;
  /** Payloads and bursts: calls in a batch. */
  readonly calls?: number;
  /** Fan-out: the tasks' own time divided among the workers. */
  readonly ideal?: number;
  /** Sporadic and contended: whether p99.9 is reported, if there are enough samples. */
  readonly hasTail?: boolean;
  /** Sorted, and evenly thinned out if there were very many. */
  readonly samples: readonly number[];
  /** How many there were. */
  readonly count: number;
  /** Medians of blocks that took turns with those of other contenders, in order. Without: the round is a block. */
  readonly blocks?: readonly number[];
}

/** What one process of a scenario prints where it has no figure. */
export type RoundGap =
  & Required<Omit<Failure, "contender">>
  & Pick<RoundFigure, "contender">;

export type RoundLine = RoundFigure | RoundGap;
