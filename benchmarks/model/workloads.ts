/**
 * What the host's own code does: batches one after the other, calls that arrive at random, or a
 * computation that the host shares with its workers.
 */
import { Call } from "./call.ts";
import type { Host } from "./host.ts";

/** Calls of one task that all take the same time. */
export interface Group {
  readonly count: number;
  readonly serviceUs: number;
}

/** A workload at work: told of every answer. */
export interface Driver {
  start(host: Host): void;
  onSettled(call: Call): void;
  /** Microseconds each measured round took. */
  readonly rounds: readonly number[];
  /** The calls that count: those of measured rounds. */
  readonly measured: readonly Call[];
  readonly submitted: number;
}

export type Workload = (random: () => number) => Driver;

const WARM_UP_ROUNDS = 3;

/**
 * The calls of all groups at once, again when all are answered. Each group is a task. `pauseUs` lets
 * every thread go to sleep between two rounds.
 */
export function batches(groups: readonly Group[], rounds: number, pauseUs = 0): Workload {
  return () => {
    const times: number[] = [];
    const measured: Call[] = [];
    let host: Host;
    let round = -WARM_UP_ROUNDS;
    let open = 0;
    let startedAt = 0;
    let submitted = 0;
    const begin = () => {
      startedAt = host.machine.now;
      groups.forEach(({ count, serviceUs }, task) => {
        for (let index = 0; index < count; index++) {
          const call = new Call(task, serviceUs, startedAt);
          open++;
          submitted++;
          if (round >= 0) measured.push(call);
          host.arrive({ call });
        }
      });
    };
    return {
      rounds: times,
      measured,
      get submitted() {
        return submitted;
      },
      start(started) {
        host = started;
        begin();
      },
      onSettled() {
        if (--open > 0) return;
        const { now } = host.machine;
        if (round >= 0) times.push(now - startedAt);
        if (++round >= rounds) return;
        if (pauseUs > 0) host.machine.at(now + pauseUs, begin);
        else begin();
      },
    };
  };
}

export interface MixPart {
  readonly share: number;
  readonly serviceUs: number;
}

/** 90 % micro-tasks, 9 % short ones, 1 % long ones: on average 222.5 µs. */
export const MIX: readonly MixPart[] = [
  { share: 0.9, serviceUs: 5 },
  { share: 0.09, serviceUs: 200 },
  { share: 0.01, serviceUs: 20_000 },
];

export const meanUs = (mix: readonly MixPart[]): number =>
  mix.reduce((sum, { share, serviceUs }) => sum + share * serviceUs, 0);

export interface PoissonOptions {
  readonly mix: readonly MixPart[];
  readonly perUs: number;
  readonly calls: number;
  /** All parts are one task: what is known of it tells nothing about a call. */
  readonly isOneTask?: boolean;
}

/** Independent arrivals at a given rate. The first tenth of the calls is not measured. */
export function poisson({ mix, perUs, calls, isOneTask }: PoissonOptions): Workload {
  return (random) => {
    const measured: Call[] = [];
    let submitted = 0;
    const next = (host: Host) => {
      if (submitted >= calls) return;
      const { machine } = host;
      machine.at(machine.now - Math.log(1 - random()) / perUs, () => {
        let draw = random();
        let part = 0;
        while (part < mix.length - 1 && draw >= mix[part]!.share) draw -= mix[part++]!.share;
        const call = new Call(isOneTask ? 0 : part, mix[part]!.serviceUs, machine.now);
        if (submitted++ >= calls / 10) measured.push(call);
        host.arrive({ call });
        next(host);
      });
    };
    return {
      rounds: [],
      measured,
      get submitted() {
        return submitted;
      },
      start: next,
      onSettled() {},
    };
  };
}

export interface SharedChunks {
  /** In the order they are taken. */
  readonly chunksUs: readonly number[];
  readonly workers: number;
  /** Chunks handed ahead to each worker. */
  readonly ahead: number;
  /** The host lets its event loop turn this long after each chunk of its own. */
  readonly turnUs: number;
}

/** `heavy-load`: the host computes chunks too and hands the workers theirs (one round). */
export function sharedChunks({ chunksUs, workers, ahead, turnUs }: SharedChunks): Workload {
  return () => {
    const times: number[] = [];
    const measured: Call[] = [];
    let taken = 0;
    let done = 0;
    let host: Host;
    const finished = () => {
      if (++done === chunksUs.length) times.push(host.machine.now);
    };
    const feed = () => {
      if (taken >= chunksUs.length) return;
      const call = new Call(0, chunksUs[taken++]!, host.machine.now);
      measured.push(call);
      host.arrive({ call });
    };
    const compute = () => {
      if (taken >= chunksUs.length) return;
      const onDone = () => {
        finished();
        host.machine.at(host.machine.now + (workers > 0 ? turnUs : 0), compute);
      };
      host.arrive({ computeUs: chunksUs[taken++]!, onDone });
    };
    return {
      rounds: times,
      measured,
      get submitted() {
        return measured.length;
      },
      start(started) {
        host = started;
        for (let index = 0; index < workers * ahead; index++) feed();
        compute();
      },
      onSettled() {
        finished();
        feed();
      },
    };
  };
}
