import { scryptSync } from "node:crypto";

/** Blocks its thread for tens of milliseconds, which is the purpose of such a hash. */
export function hashPassword(password: string, salt: string): string {
  return scryptSync(password, salt, 32).toString("hex");
}
