/** `npm run test:nats-chaos -- [--calls N] [--kills N] [--seed N] [--runtime NAME]`. Prints a line of JSON. */
import { fetchNatsServer } from "../../scripts/nats-server.ts";
import { runChaos } from "../nats/chaos.ts";
import { createRandom } from "../support/random.ts";

const option = (name: string, fallback: number): number => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
};

const found = fetchNatsServer();
if (!("path" in found)) {
  console.error(found.reason);
  process.exit(1);
}
const seed = option("seed", 1 + Math.floor(Math.random() * 2 ** 31));
const calls = option("calls", 100_000);
const report = await runChaos({
  calls,
  durable: option("durable", calls / 100),
  kills: option("kills", 20),
  machines: 3,
  random: createRandom(seed),
});
console.log(JSON.stringify({ seed, calls, ...report }));
process.exit(report.settledOnce === calls ? 0 : 1);
