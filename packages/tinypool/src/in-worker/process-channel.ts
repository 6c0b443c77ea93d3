/** `process.send` and the event "message" in a worker that is a process, by calls of the host. */
import process from "node:process";
import { packMessage, unpackMessage } from "../protocol.ts";

type Sent = (error: Error | null) => void;

/** Before the module of tasks is loaded, which may keep `process.send`. */
export async function openChannel(isJson: boolean): Promise<void> {
  const { host } = await import("heddle/task");
  const { call } = host.typed<{ receive(packed: unknown): void }>();
  const send = (message: unknown, ...rest: unknown[]): boolean => {
    const last = rest.at(-1);
    const sent = typeof last === "function" ? last as Sent : () => {};
    call.receive(packMessage(message, isJson)).then(() => sent(null), sent);
    return true;
  };
  Object.assign(process, { send, connected: true });
}

const emit = process.emit.bind(process) as (name: string, message: unknown) => boolean;

export function deliver(packed: unknown, isJson: boolean): void {
  emit("message", unpackMessage(packed, isJson));
}
