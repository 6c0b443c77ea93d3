/**
 * heddle calls functions in worker threads of Node, Deno and Bun through shared memory, as if they
 * were local async functions.
 *
 * **Overview.** {@link createPool} starts workers for a set of tasks and returns `pool.call`. Tasks
 * are functions exported from a module (see {@link task} and {@link importTask}). Each worker shares two
 * ring buffers with the host; arguments and results are encoded straight into them.
 *
 * **Backpressure.** A call never blocks the host, and is never refused unless `maxQueue` is set. Calls that no
 * worker can take yet wait on the host, with their arguments already encoded. `pool.needsDrain` tells
 * producers when to pause.
 *
 * **Shutdown.** `pool.shutdown()`, `using` and `await using`. An idle pool does not keep the process
 * running; calls in flight do.
 *
 * **Allocation.** Calls with numbers, booleans, short strings, `null` and `undefined` allocate only
 * the promise. Arguments are copied when the call is made: later changes are not seen.
 *
 * @module
 */
import "./codec/struct/provide.ts";

export * from "./mod-core.ts";
