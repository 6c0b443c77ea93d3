import { createPool } from "heddle";

test("ES modules", async () => {
  const pool = createPool({ threads: 1 })(new URL("./tasks.cjs", import.meta.url));
  const relative = createPool({ threads: 1 })("./tasks.cjs");
  expect(await pool.call.add(20, 22)).toBe(42);
  expect(await relative.call.add(1, 2)).toBe(3);
  await Promise.all([pool.shutdown(), relative.shutdown()]);
});
