/** Piscina with one worker, allowed as many concurrent tasks as a batch has. */
import { Piscina } from "piscina";
import type { LatencyContender } from "./contender.ts";

export const piscina: LatencyContender = {
  name: "Piscina",
  async start() {
    const pool = new Piscina({
      filename: new URL("./piscina-tasks.ts", import.meta.url).href,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: 1000,
    });
    await pool.run(0, { name: "echo" });
    return {
      echo: (value) => pool.run(value, { name: "echo" }) as Promise<number>,
      nothing: () => pool.run(undefined, { name: "nothing" }),
      asyncNothing: () => pool.run(undefined, { name: "asyncNothing" }),
      close: () => pool.destroy(),
    };
  },
};
