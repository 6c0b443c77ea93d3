/** One end of the pipe between a host and a worker that is a process: messages and the payload port on one stream, in order. */
import { ProtocolError } from "../../../errors.ts";
import { align8Large } from "../../../memory/align.ts";
import type { PayloadPort, Runtime } from "../../../runtimes/runtime.ts";
import type { ChildPipe } from "../../../runtimes/processes/types.ts";
import type { MirrorMessage } from "../mirror/mirror-message.ts";
import {
  bytesFrame,
  fileFrame,
  FrameReader,
  IN_FILE,
  MESSAGE,
  MIRROR,
  mirrorFrame,
  NOTICE,
  PAYLOAD,
  readBytes,
  readFileFrame,
  readMirror,
} from "./frames.ts";
import { decodeMessage, encodeMessage } from "./messages.ts";
import { LARGE_BYTES, LargeValues, type Side } from "./shared-file.ts";

export class Channel {
  /** Messages that records announce. They come before their record on the same stream, so it needs no event. */
  readonly port: PayloadPort;
  readonly #pipe: ChildPipe;
  readonly #runtime: Runtime;
  /** Undefined: all goes through the pipe. */
  readonly #large: LargeValues | undefined;
  /** Frames of this turn. */
  #written: Uint8Array[] = [];
  /** Each gives its message when it is taken: what is in the file stays there until then. */
  readonly #payloads: (() => unknown)[] = [];

  /** `onMessage` gets all other messages; what it throws ends in `pipe`. `maxFrameBytes`: of the other side. */
  constructor(
    pipe: ChildPipe,
    side: Side,
    runtime: Runtime,
    onMessage: (message: unknown) => void,
    maxFrameBytes?: number,
  ) {
    this.#pipe = pipe;
    this.#runtime = runtime;
    const { file, isFileMemory } = pipe;
    this.#large = file !== undefined && isFileMemory ? new LargeValues(file, side) : undefined;
    const reader = new FrameReader((kind, frame) => {
      if (kind === IN_FILE) this.#payloads.push(this.#announced(frame));
      else {
        const message = this.#read(kind, frame);
        if (kind === PAYLOAD || kind === NOTICE) this.#payloads.push(() => message);
        else onMessage(message);
      }
    }, maxFrameBytes);
    pipe.onData((bytes) => reader.push(bytes));
    this.port = {
      post: (message, _transfer, bytes) => this.#postPayload(message, bytes),
      receive: () =>
        this.#payloads.length === 0 ? undefined : { message: this.#payloads.shift()!() },
      close: () => {},
    };
  }

  /** Throws DataCloneError, and has sent nothing then. */
  post(message: unknown): void {
    const { heddle } = Object(message) as { readonly heddle?: string };
    if (heddle === "mirror") this.#write([mirrorFrame(message as MirrorMessage)]);
    else this.#write(bytesFrame(MESSAGE, encodeMessage(this.#runtime, message)));
  }

  /** Writes what was posted in this turn. */
  flush(): void {
    if (this.#written.length === 0) return;
    const chunks = this.#written;
    this.#written = [];
    this.#pipe.write(chunks);
  }

  #write(frames: readonly Uint8Array[]): void {
    if (this.#written.length === 0) this.#runtime.microtask(() => this.flush());
    this.#written.push(...frames);
  }

  /** A payload is a list of one buffer, of which the first `bytes` bytes count. */
  #postPayload(message: unknown, bytes?: number): void {
    const isPayload = Array.isArray(message);
    const content = isPayload
      ? new Uint8Array(message[0] as SharedArrayBuffer, 0, bytes)
      : encodeMessage(this.#runtime, message);
    const { length } = content;
    const position = isPayload && length >= LARGE_BYTES ? this.#large?.write(content) : undefined;
    if (position !== undefined) this.#write([fileFrame(length, position)]);
    else this.#write(bytesFrame(isPayload ? PAYLOAD : NOTICE, content));
  }

  /** A value in the file. */
  #announced(frame: ArrayBuffer): () => unknown {
    const { bytes, position } = readFileFrame(frame);
    if (this.#large === undefined) throw new ProtocolError("A value in a file that is not there.");
    const take = this.#large.announce(position, bytes);
    return () => [take()];
  }

  #read(kind: number, frame: ArrayBuffer): unknown {
    if (kind === MIRROR) return readMirror(frame);
    const bytes = readBytes(frame);
    if (kind === PAYLOAD) return [sharedCopy(bytes)];
    if (kind !== NOTICE && kind !== MESSAGE) throw new ProtocolError(`A frame of kind ${kind}.`);
    return decodeMessage(this.#runtime, bytes);
  }
}

/** Decoders read shared memory. */
function sharedCopy(bytes: Uint8Array): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(align8Large(bytes.length));
  new Uint8Array(buffer).set(bytes);
  return buffer;
}
