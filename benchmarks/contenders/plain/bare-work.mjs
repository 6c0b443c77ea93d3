/** A worker by hand that runs a task of `work.mjs` for each of some values. */
import { parentPort } from "node:worker_threads";
import * as tasks from "./work.mjs";

parentPort.on("message", async ([name, values]) => {
  const results = [];
  for (const value of values) results.push(await tasks[name](value));
  parentPort.postMessage(results);
});
