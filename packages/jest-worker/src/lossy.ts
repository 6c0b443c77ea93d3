/**
 * A copy of a value without what cannot be sent: functions and symbols, as by `JSON.stringify`. Used only for a value that was refused.
 */
const KEPT = new Set([
  "Date",
  "RegExp",
  "Error",
  "Boolean",
  "Number",
  "String",
  "BigInt",
  "ArrayBuffer",
  "SharedArrayBuffer",
  "Blob",
]);

const isSendable = (value: unknown): boolean =>
  typeof value !== "function" && typeof value !== "symbol";

export function lossyCopy(value: unknown, seen: Map<unknown, unknown> = new Map()): unknown {
  if (!isSendable(value)) return undefined;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (seen.has(value)) return seen.get(value);
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (KEPT.has(tag)) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  if (typeof toJSON === "function") return lossyCopy(toJSON.call(value), seen);
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    seen.set(value, copy);
    for (const item of value) copy.push(isSendable(item) ? lossyCopy(item, seen) : null);
    return copy;
  }
  if (tag === "Map") {
    const copy = new Map<unknown, unknown>();
    seen.set(value, copy);
    for (const [key, item] of value as ReadonlyMap<unknown, unknown>) {
      if (isSendable(key) && isSendable(item)) {
        copy.set(lossyCopy(key, seen), lossyCopy(item, seen));
      }
    }
    return copy;
  }
  if (tag === "Set") {
    const copy = new Set<unknown>();
    seen.set(value, copy);
    for (const item of value as ReadonlySet<unknown>) {
      if (isSendable(item)) copy.add(lossyCopy(item, seen));
    }
    return copy;
  }
  const copy: Record<string, unknown> = {};
  seen.set(value, copy);
  for (const [key, item] of Object.entries(value)) {
    if (isSendable(item)) copy[key] = lossyCopy(item, seen);
  }
  return copy;
}
