/** Takes the streams out of the arguments of a call: they travel on their own. */
import { StreamArgument } from "../../codec/support/stream-argument.ts";
import { endSource, endStreams, openSource } from "../../streams/open-source.ts";
import { isReadableStream } from "../../streams/readable.ts";
import { type AnyIterator, isStreamable } from "../../streams/stream-producer.ts";

/** Arguments of which some are streams. */
export interface SplitArguments {
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
export function splitStreams(args: readonly unknown[]): SplitArguments | undefined {
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
