/** A worker by hand: posts the value of each message back, with its number. */
import { parentPort } from "node:worker_threads";

parentPort.on("message", (message) => parentPort.postMessage(message));
