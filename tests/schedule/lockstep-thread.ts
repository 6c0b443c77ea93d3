/** One thread of a lockstep run: performs its role again and again, each time as the scheduler grants it steps. */
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import type { Scenario } from "./scenarios.ts";
import { Lockstep } from "./lockstep-atomics.ts";
import { EventLoop } from "./lockstep-loop.ts";
import * as protocol from "./lockstep-protocol.ts";

const { control, thread, port } = workerData as {
  control: Int32Array<SharedArrayBuffer>;
  thread: number;
  port: MessagePort;
};

// A finalizer of one run would take steps in a later one. Before the import: the sources keep the class that they find.
Object.assign(globalThis, {
  FinalizationRegistry: class {
    register(): void {}
    unregister(): void {}
  },
});
const { allScenarios } = await import("./all-scenarios.ts");
const lockstep = new Lockstep(control, thread);
lockstep.install();
process.on("unhandledRejection", (error) => {
  if (!lockstep.isDead) throw error;
});
let scenario: Scenario | undefined;
let buffers: readonly SharedArrayBuffer[] = [];
let seen = 0;
parentPort!.postMessage("ready");

/** Learns what the next runs perform. */
function changeScenario(): void {
  seen = control[protocol.SCENARIO]!;
  const { message } = receiveMessageOnPort(port)!;
  const { name } = message as { name: string };
  scenario = allScenarios[name]!;
  buffers = (message as { buffers: readonly SharedArrayBuffer[] }).buffers;
  lockstep.use(buffers, scenario);
}

/** Undefined: it has finished, or was killed. */
async function perform(): Promise<unknown> {
  try {
    const loop = new EventLoop(lockstep);
    const pending = scenario!.threads[thread]!(buffers[0]!, { lockstep, loop, buffers });
    if (pending !== undefined) await loop.run(pending);
    return undefined;
  } catch (error) {
    return lockstep.isDead ? undefined : error;
  }
}

for (;;) {
  lockstep.awaitTurn();
  if (seen !== control[protocol.SCENARIO]) changeScenario();
  lockstep.begin();
  const error = lockstep.isDead ? undefined : await perform();
  if (error !== undefined) {
    parentPort!.postMessage(error instanceof Error ? error.stack : String(error));
  }
  lockstep.finish(error === undefined ? protocol.FINISHED : protocol.FAILED);
}
