/** The option `output`: posts to the host what this worker prints, with the call that prints it. */
import { Map, TextDecoder } from "../../../../builtins.ts";
import { keyOf } from "../../../../protocol/call-key.ts";
import { OutputLines } from "../../../../runtimes/output-lines.ts";
import type { OutputName } from "../../../../runtimes/worker-handle.ts";
import { seams } from "../../../../worker/feature.ts";
import type { WorkerCore } from "../../../../worker/worker-core.ts";

/** A call that runs, and what it prints. */
interface Printing {
  readonly task: string;
  readonly id: number;
  readonly lines: Readonly<Record<OutputName, OutputLines>>;
  isOver: boolean;
}

const STREAMS = ["stdout", "stderr"] as const;

/** What the host prints is its own, and what a process prints goes through its streams. `isIgnored`: the host wants no more than errors. */
export function startPrinting(core: WorkerCore, isIgnored: boolean): void {
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
      const rest = printing.lines[stream].take();
      if (rest !== "") send(stream, rest, printing);
    }
  };

  const options = { ignoreBOM: true };
  const decoders = {
    stdout: new TextDecoder("utf-8", options),
    stderr: new TextDecoder("utf-8", options),
  };
  runtime.redirectOutput!(STREAMS, (stream, chunk) => {
    if (isIgnored && stream === "stdout") return;
    const text = typeof chunk === "string"
      ? chunk
      : decoders[stream].decode(chunk, { stream: true });
    if (text === "") return;
    const printing = running.get();
    if (printing === undefined || printing.isOver) return send(stream, text, printing);
    const lines = printing.lines[stream].add(text);
    if (lines !== "") send(stream, lines, printing);
  });
  site.parent.onExit(() => calls.forEach(end));

  const bind = () => runtime.bindContext();
  core.wraps.push({
    before: (call, args) => {
      const { slot, generation, task: { index, nameOf } } = call;
      const task = nameOf?.(args) ?? core.named[index % core.named.length]!.name;
      const id = keyOf(slot, generation);
      const lines = { stdout: new OutputLines(), stderr: new OutputLines() };
      calls.set(id, { task, id, lines, isOver: false });
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
