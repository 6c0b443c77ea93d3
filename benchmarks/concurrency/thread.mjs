/** A thread that runs one task and ends. */
import { parentPort, workerData } from "node:worker_threads";
import { askServer } from "./requests.mjs";

const { origin, task, work } = workerData;
parentPort.postMessage(await askServer(origin, task, work));
