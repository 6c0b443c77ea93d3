/** The short task of the pools: twenty hashes, each of the one before. */
import { createHash } from "node:crypto";

export function hash(text: string): string {
  let found = text;
  for (let round = 0; round < 20; round++) {
    found = createHash("sha256").update(found).digest("hex");
  }
  return found;
}

export default hash;
