/** Serves the host of this process, which has started it as a worker. */
import { enterWorkerRealm } from "../../../../realm/worker-realm.ts";
import type { WorkerRuntime } from "../../../../runtimes/runtime.ts";
import type { ParentHandle } from "../../../../runtimes/worker-handle.ts";
import { reportErrors } from "../../../../worker/report-errors.ts";
import type { Serve } from "../../../../worker/site.ts";
import type { SpscRing } from "../../../../ring/spsc-ring.ts";
import { Channel } from "../channel.ts";
import { begunWriter, CHILD } from "../shared-file.ts";
import { BegunConsumer } from "./begun-consumer.ts";

export async function serveProcess(serve: Serve, runtime: WorkerRuntime): Promise<void> {
  const { pipe, parent } = await runtime.openProcess!();
  const { file } = pipe;
  const note = file === undefined ? undefined : begunWriter(file);
  let receive = (_message: unknown): void => {};
  const channel = new Channel(pipe, CHILD, runtime, (message) => receive(message));
  const exit = (code: number): void => {
    channel.flush();
    pipe.endWrites(() => parent.exit(code));
  };
  const handle: ParentHandle = {
    ...parent,
    post: (message) => channel.post(message),
    onMessage: (listener) => receive = listener,
    exit,
  };
  reportErrors(handle, runtime);
  parent.onExit(() => channel.flush());
  handle.onMessage(serve({
    parent: handle,
    port: channel.port,
    ...(note !== undefined && {
      takeConsumer: (ring: SpscRing) => {
        const consumer = ring.takeConsumer(BegunConsumer) as BegunConsumer;
        consumer.onBegin = note;
        return consumer;
      },
    }),
    isHost: false,
    known: [],
    enter: (realm, _start, f) => {
      enterWorkerRealm(realm);
      f();
    },
    crash: (error) =>
      runtime.macrotask(() => {
        throw error;
      }),
  }));
}
