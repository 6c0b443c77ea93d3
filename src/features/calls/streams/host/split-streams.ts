/** Takes the streams out of the arguments of a call: they travel on their own. */
import { DataCloneError } from "../../../../errors.ts";
import { StreamArgument } from "../sources/stream-argument.ts";
import { endSource, endStreams, openSource } from "../sources/open-source.ts";
import type { OtherArguments } from "../../../../host/calls/feature.ts";
import { isReadableStream } from "../sources/readable.ts";
import type { AnyIterator } from "../stream-producer.ts";
import { isStreamable } from "../../../../protocol/is-streamable.ts";

/** Arguments of which some are streams. */
interface SplitArguments {
  /** The same with placeholders in the place of the streams. */
  readonly args: readonly unknown[];
  readonly sources: AnyIterator[];
}

/** Opens a stream among the arguments of a call, adds it to `sources` and returns its placeholder. Runs user code. */
export function takeSource(stream: object, sources: (AnyIterator | undefined)[]): StreamArgument {
  sources.push(openSource(stream));
  return new StreamArgument(sources.length - 1, isReadableStream(stream));
}

/**
 * Takes the streams out of `args` and opens them; undefined if there are none. Runs user code. Throws InvalidArgumentError if
 * another call has taken one, and ends the others.
 */
function splitStreams(args: readonly unknown[]): SplitArguments | undefined {
  const sources: AnyIterator[] = [];
  try {
    const others = args.map((value) => isStreamable(value) ? takeSource(value, sources) : value);
    return sources.length === 0 ? undefined : { args: others, sources };
  } catch (error) {
    for (const source of sources) endSource(source);
    endStreams(args);
    throw error;
  }
}

/** The same for a call of this host, which cannot be made again: a stream cannot be read twice. */
export function replaceStreams(
  args: readonly unknown[],
  error: unknown,
): OtherArguments | undefined {
  const split = error instanceof DataCloneError ? splitStreams(args) : undefined;
  if (split === undefined) return undefined;
  const { sources } = split;
  return {
    args: split.args,
    settings: { streams: sources, retries: 0 },
    drop: () => sources.forEach((source) => endSource(source)),
  };
}
