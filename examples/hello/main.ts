/** A task and its pool in one file. Workers import this file too, so only the main thread creates the pool. */
import { createPool, isMain } from "heddle";

export function greet(name: string): string {
  return `Hello, ${name}!`;
}

if (isMain) {
  const pool = createPool({ threads: 1 })({ greet });
  console.log(await pool.call.greet("world"));
  await pool.shutdown();
}
