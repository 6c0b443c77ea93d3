/**
 * Deno: one turn of its event loop does not serve I/O (`sync/turn-clock.ts` has the figures),
 * and writing strings through `node:buffer` is a bounds-checked loop (1.7 ms for 1 MiB).
 */
import { Map, structuredClone } from "../builtins.ts";
import { ASCII, LATIN1, NOT_ONE_BYTE, type Permission, type Runtime } from "./runtime.ts";
import { inspectFrom } from "./node-api/values/array-keys.ts";
import { process } from "./node-api/process/process.ts";
import { refusingMarked } from "./node-api/values/uncloneable.ts";
import { ABOVE_ONE_BYTE, textAccess } from "./node-api/values/values.ts";
import { createRuntime, webPlatform } from "./node-api/common.ts";
import { threads } from "./node-api/threads/threads.ts";

/** Whether a file may be read without a question to the user. */
const canRead = (path: URL): boolean =>
  Deno.permissions.querySync({ name: "read", path }).state === "granted";

/** Whether the memory of the system may be read without a question to the user. */
export const mayReadSystem = (): boolean =>
  Deno.permissions.querySync({ name: "sys", kind: "systemMemoryInfo" }).state === "granted";

export function createDenoRuntime(): Runtime {
  return createRuntime({
    ...webPlatform(),
    bytes: { isUntransferable: threads().isMarkedAsUntransferable },
    turnsPerYield: 24,
    canRead,
    exists: (path) => {
      // Without `node:fs`, which takes 5 ms to load (2.9).
      try {
        if (path.protocol === "file:" && canRead(path)) Deno.statSync(path);
        return true;
      } catch {
        return false;
      }
    },
    // Reading a variable without the permission would ask the user.
    env: (name) =>
      Deno.permissions.querySync({ name: "env", variable: name }).state === "granted"
        ? process.env[name]
        : undefined,
    text: {
      joinedTexts: Infinity,
      writeOneByte: (text, target, start) => {
        if (ABOVE_ONE_BYTE.test(text)) return NOT_ONE_BYTE;
        const { length } = text;
        // A unit above 0x7f takes two bytes, so only ASCII is read to its end within this room.
        const { read } = textAccess.encodeInto(text, target, start, start + length);
        if (read === length) return ASCII;
        textAccess.writeUnits(text, target, start);
        return LATIN1;
      },
      writeTwoByte: (text, _bytes, units, start) => {
        const first = start >> 1;
        for (let unit = 0; unit < text.length; unit++) units[first + unit] = text.charCodeAt(unit);
      },
    },
    kinds: {
      isRefused: refusingMarked(),
      countIndices: inspectFrom(2000, { clonesLive: false }),
    },
    errors: { bare: bareError },
  });
}

/** Number of errors created by one clone. */
const CLONED_ERRORS = 16;

const stocks = new Map<ErrorConstructor, { readonly originals: Error[]; errors: Error[] }>();

/**
 * Returns an error without a stack, cloned in a batch. Constructors record a native stack regardless of
 * `Error.stackTraceLimit`: an error costs 2 µs, and 6 from ten calls deep; one of sixteen clones costs 0.7.
 * (`v8.deserialize` takes 0.5, but retains its errors until the second full collection: 100 MiB after a million.)
 */
function bareError(create: ErrorConstructor): Error | undefined {
  let stock = stocks.get(create);
  if (stock === undefined) {
    const createOriginal = () => Object.assign(new create(""), { stack: "" });
    stock = { originals: Array.from({ length: CLONED_ERRORS }, createOriginal), errors: [] };
    stocks.set(create, stock);
  }
  if (stock.errors.length === 0) stock.errors = structuredClone(stock.originals);
  return stock.errors.pop();
}

interface Permissions {
  querySync(
    descriptor: {
      readonly name: string;
      readonly path?: URL;
      readonly variable?: string;
      readonly kind?: string;
    },
  ): { readonly state: string };
}
declare const Deno: { readonly permissions: Permissions; statSync(path: URL): unknown };

/**
 * Threads of `node:worker_threads` have the permissions of their host, and a permission revoked in one of them is
 * revoked for all (2.9). So workers can be denied only permissions that the host itself lacks.
 */
export function refusePermission(permission: Permission): string[] {
  const reasons: string[] = [];
  for (const key of ["read", "write", "net", "run", "ffi", "env"] as const) {
    const given = permission[key];
    if (given === true) continue;
    if (given !== false) reasons.push(`Deno cannot narrow \`${key}\` for its threads`);
    else if (Deno.permissions.querySync({ name: key }).state === "granted") {
      reasons.push(`Deno cannot deny its threads \`${key}\`, which this process may`);
    }
  }
  if (!permission.workers) reasons.push("Deno cannot deny `workers`");
  return reasons; // it has no WASI
}
