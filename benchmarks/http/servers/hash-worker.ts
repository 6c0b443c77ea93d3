/** A worker by hand: one message per task, one per result, matched by number. */
import { parentPort } from "node:worker_threads";
import { hash } from "./hash.ts";

const port = parentPort!;
port.on("message", ([id, text]: [number, string]) => port.postMessage([id, hash(text)]));
