import { createPool, isMain } from "heddle";
import { expect, test } from "vitest";
import { twice } from "./twice.mjs";

test("calls", async () => {
  expect(isMain).toBe(true);
  const pool = createPool({ threads: 1 })({ twice });
  const relative = createPool({ threads: 1 })("./tasks.mjs");
  expect(await pool.call.twice(21)).toBe(42);
  expect(await relative.call.add([1], new Uint8Array(2))).toBe("10,0");
  await Promise.all([pool.shutdown(), relative.shutdown()]);
});
