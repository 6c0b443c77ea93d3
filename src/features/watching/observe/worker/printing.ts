/** The option `output`: posts to the host what this worker prints, with the call that prints it. */
import { Map, TextDecoder } from "../../../../builtins.ts";
import { keyOf } from "../../../../protocol/call-key.ts";
import type { OutputName } from "../../../../runtimes/worker-handle.ts";
import { seams } from "../../../../worker/feature.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

/** A call that runs, and the beginnings of the lines that it has not ended. */
interface Printing {
  readonly task: string;
  readonly id: number;
  readonly rest: Record<OutputName, string>;
  isOver: boolean;
}

const STREAMS = ["stdout", "stderr"] as const;

/** What the host prints is its own, and what a process prints goes through its streams. */
export function startPrinting(core: WorkerCore): void {
  const { runtime, site, post } = core;
  if (site.isHost || runtime.isProcess === true) return;
  const running = runtime.createContext<Printing>();
  const calls = new Map<number, Printing>();

  const send = (stream: OutputName, text: string, printing?: Printing): void => {
    const call = printing && { task: printing.task, id: printing.id };
    post({ heddle: "output", stream, text, call });
  };
  const end = (printing: Printing): void => {
    printing.isOver = true;
    for (const stream of STREAMS) {
      if (printing.rest[stream] !== "") send(stream, printing.rest[stream], printing);
    }
  };

  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  runtime.redirectOutput!(STREAMS, (stream, chunk) => {
    const text = typeof chunk === "string"
      ? chunk
      : decoders[stream].decode(chunk, { stream: true });
    if (text === "") return;
    const printing = running.get();
    if (printing === undefined || printing.isOver) return send(stream, text, printing);
    const all = printing.rest[stream] + text;
    const length = all.lastIndexOf("\n") + 1;
    printing.rest[stream] = all.slice(length);
    if (length > 0) send(stream, all.slice(0, length), printing);
  });
  site.parent.onExit(() => calls.forEach(end));

  const bind = () => runtime.bindContext();
  core.wraps.push({
    before: (call, args) => {
      const { slot, generation, task: { index, nameOf } } = call;
      const task = nameOf?.(args) ?? core.named[index % core.named.length]!.name;
      const id = keyOf(slot, generation);
      calls.set(id, { task, id, rest: { stdout: "", stderr: "" }, isOver: false });
    },
    run: ({ slot, generation, task }, f) =>
      running.run(
        calls.get(keyOf(slot, generation))!,
        task.isStream ? () => seams.results!.bind(f(), bind) : f,
      ),
    over: (slot, generation) => {
      const id = keyOf(slot, generation);
      const printing = calls.get(id);
      calls.delete(id);
      if (printing !== undefined) end(printing);
    },
  });
}
