import { scryptSync } from "node:crypto";

/** Blocks its thread for tens of milliseconds, which is the purpose of such a hash. */
export function hashPassword(password: string, salt: string): string {
  return scryptSync(password, salt, 32).toString("hex");
}

/** Counts seconds for ever. It waits for them, so that it leaves its thread to other calls. */
export async function* clock(): AsyncGenerator<number> {
  for (let second = 0;; second++) {
    yield second;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
