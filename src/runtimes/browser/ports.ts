/**
 * Ports of a browser, which cannot be read without the event loop: messages come by events, so a record may be there before its
 * payload (`features/workers/mirror/gated-consumer.ts`).
 */
import { Error, MessageChannel } from "../../builtins.ts";
import type { PayloadPort } from "../runtime.ts";

export function createPort(port: MessagePort): PayloadPort {
  const arrived: (() => unknown)[] = [];
  let onArrival = (): void => {};
  const arrive = (read: () => unknown): void => {
    arrived.push(read);
    onArrival();
  };
  port.onmessage = ({ data }) => arrive(() => data);
  port.onmessageerror = () =>
    arrive(() => {
      throw new Error("The browser could not deserialize it.");
    });
  return {
    post: (message, transfer) => port.postMessage(message, transfer as Transferable[]),
    receive: () => arrived.length === 0 ? undefined : { message: arrived.shift()!() },
    hasMessage: () => arrived.length > 0,
    onArrival: (listener) => void (onArrival = listener),
    close: () => port.close(),
  };
}

export function createChannel(): { readonly local: PayloadPort; readonly remote: unknown } {
  const { port1, port2 } = new MessageChannel();
  return { local: createPort(port1), remote: port2 };
}
