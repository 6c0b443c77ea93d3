import { createHash } from "node:crypto";

/** Hashes bytes as they arrive. */
export async function sha256(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}
