/** The streams of a pool's calls. Made at first use. */
import { ArgumentSources } from "./argument-sources.ts";
import { StreamCalls } from "./stream-calls.ts";
import { createCancellation } from "../../limits/host/cancellation.ts";
import type { PoolParts } from "../../../../api/pool/parts.ts";

/** The calls whose results are streams. */
export function createStreams(host: PoolParts): StreamCalls {
  const { spec: { runtime }, dispatcher: { inFlight, lanes }, safety } = host;
  return new StreamCalls({
    inFlight,
    lanes,
    cancellation: host.part(createCancellation),
    setInterval: runtime.setInterval,
    onWanted: () => {
      safety.ref();
      host.onBusy();
    },
  });
}

/** The streams among arguments. */
export function createSources({ spec, dispatcher: { inFlight } }: PoolParts): ArgumentSources {
  const { runtime, options: { maxPayloadBytes } } = spec;
  return new ArgumentSources({ runtime, inFlight, maxPayloadBytes });
}
