/**
 * Deno: one turn of its event loop does not let I/O through (`park/turn-clock.ts` has the figures),
 * and writing strings through `node:buffer` is a loop with bounds to check (1.7 ms for 1 MiB).
 */
import { ASCII, LATIN1, NOT_ONE_BYTE, type Permission, type Runtime } from "./runtime.ts";
import { inspectFrom } from "./array-keys.ts";
import { bareError } from "./bare-errors.ts";
import { ABOVE_ONE_BYTE, textAccess, writeTwoByteByLoop } from "./values.ts";
import { createRuntime, microtaskByPromise } from "./worker-threads.ts";

export function createDenoRuntime(): Runtime {
  return createRuntime({
    name: "deno",
    microtask: microtaskByPromise,
    turnsPerYield: 24,
    mostMovedBytes: Infinity,
    refuseLimits: ({ resourceLimits, permission }) => [
      // One that reaches its limit in a promise's callback, or a message's, never runs nor ends again (2.9).
      ...(resourceLimits === undefined ? [] : ["Deno leaves workers hanging at resourceLimits"]),
      ...(permission === undefined ? [] : refusePermission(permission)),
    ],
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
      writeTwoByte: writeTwoByteByLoop,
    },
    kinds: { countIndices: inspectFrom(2000, { clonesLive: false }) },
    errors: { bare: bareError },
  });
}

interface Permissions {
  querySync(descriptor: { readonly name: string }): { readonly state: string };
}
declare const Deno: { readonly permissions: Permissions };

/**
 * Threads of `node:worker_threads` may do what their host may, and what one of them revokes is revoked for all
 * (2.9). So only what the host itself may not do can be said to be denied.
 */
function refusePermission(permission: Permission): string[] {
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
