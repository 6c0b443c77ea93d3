/** The option `transport`: how calls reach workers. */
import { InvalidArgumentError } from "../../../../errors.ts";
import { invalid, show } from "../../../../option-checks.ts";

/** How calls reach the workers of a pool: through memory that threads share, or by messages. */
export type Transport = "shared" | "messages";

const NOT_ISOLATED =
  'transport: "shared" needs a page that is cross-origin isolated, since browsers share memory only there: serve it with ' +
  "the headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp.";

/** Checks the option. "auto": memory is shared where it can be. */
export function checkTransport(
  given: unknown,
  sharesMemory: boolean,
  hasMetrics: boolean,
): Transport {
  if (given !== "auto" && given !== "shared" && given !== "messages") {
    throw invalid("transport", '"auto", "shared" or "messages"', show(given));
  }
  if (given === "shared" && !sharesMemory) throw new InvalidArgumentError(NOT_ISOLATED);
  const transport = given === "messages" || !sharesMemory ? "messages" : "shared";
  if (transport === "messages" && hasMetrics) {
    throw new InvalidArgumentError(
      'metrics needs memory that threads share: not transport: "messages", and in browsers a page that is cross-origin isolated.',
    );
  }
  return transport;
}
