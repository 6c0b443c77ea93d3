/** `messageParent()`: messages of a running call to those who listen to its promise. */

/** Where the code of a worker finds the way to its host: the module of the tasks and this one are different files. */
const SENDER: unique symbol = Symbol.for("@heddle/jest-worker.sender") as never;

type Sender = (message: unknown) => void;

const globals = globalThis as { [SENDER]?: Sender };

/** What jest-worker's own child processes send. */
const PARENT_MESSAGE_CUSTOM = 3;

interface Parent {
  readonly send?: ((message: unknown) => unknown) | undefined;
}

export function installSender(send: Sender): void {
  globals[SENDER] = send;
}

/**
 * Sends a message to the listeners of the promise of the running call (`UNSTABLE_onCustomMessage`). Functions and symbols in it are left
 * out. For workers; `parentProcess` is what a process uses that another library has started.
 */
export function messageParent(message: unknown, parentProcess: Parent = process): void {
  const send = globals[SENDER];
  if (send !== undefined) send(message);
  else if (typeof parentProcess.send === "function") {
    parentProcess.send([PARENT_MESSAGE_CUSTOM, message]);
  } else throw new TypeError('"messageParent" can only be used inside a worker');
}
