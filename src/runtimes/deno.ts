/**
 * Deno: one turn of its event loop does not let I/O through (`park/turn-clock.ts` has the figures),
 * and writing strings through `node:buffer` is a loop with bounds to check (1.7 ms for 1 MiB).
 */
import type { Runtime } from "./runtime.ts";
import { ABOVE_ONE_BYTE, textAccess, writeTwoByteByLoop } from "./values.ts";
import { createRuntime, microtaskByPromise } from "./worker-threads.ts";

export function createDenoRuntime(): Runtime {
  return createRuntime({
    name: "deno",
    microtask: microtaskByPromise,
    turnsPerYield: 24,
    text: {
      writeOneByte: (text, target, start) => {
        if (ABOVE_ONE_BYTE.test(text)) return false;
        const { length } = text;
        // A unit above 0x7f takes two bytes, so only ASCII is read to its end within this room.
        const { read } = textAccess.encodeInto(text, target, start, start + length);
        if (read === length) return true;
        for (let unit = 0; unit < length; unit++) target[start + unit] = text.charCodeAt(unit);
        return true;
      },
      writeTwoByte: writeTwoByteByLoop,
    },
  });
}
