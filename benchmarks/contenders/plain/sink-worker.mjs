/** A worker by hand that answers only the last of many messages, `true`. */
import { parentPort } from "node:worker_threads";

parentPort.on("message", (message) => {
  if (message === true) parentPort.postMessage(message);
});
