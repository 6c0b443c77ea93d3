import { Buffer } from "node:buffer";
import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;
const COST = 2 ** 13;

/** `salt:hash`, both in hexadecimal digits. Blocks its thread for tens of milliseconds. */
export function hashPassword(password: string): string {
  const salt = randomBytes(16);
  const hash = scryptSync(password, salt, KEY_BYTES, { N: COST });
  return `${salt.toString("hex")}:${hash.toString("hex")}`;
}

export function verifyPassword(password: string, stored: string): boolean {
  const [salt = "", hash = ""] = stored.split(":");
  const found = scryptSync(password, Buffer.from(salt, "hex"), KEY_BYTES, { N: COST });
  return timingSafeEqual(found, Buffer.from(hash, "hex"));
}
