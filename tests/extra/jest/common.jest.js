const { createPool, HeddleError } = require("heddle");
const { join } = require("node:path");

test("CommonJS", async () => {
  const pool = createPool({ threads: 1 })(join(__dirname, "tasks.cjs"));
  const relative = createPool({ threads: 1 })("./tasks.cjs");
  expect(await pool.call.add(20, 22)).toBe(42);
  expect(await relative.call.add([1], new Uint8Array(2))).toBe("10,0");
  await expect(pool.call.nothing()).rejects.toThrow(HeddleError);
  await Promise.all([pool.shutdown(), relative.shutdown()]);
});
