/** Messages of streams. Credit and items are explained in docs/internals/streams.md. */
import type { PackedReason } from "../../../protocol/start-data.ts";

/** A stream by the call that it belongs to, and for an argument by its number among the streams of the call. */
export interface StreamId {
  readonly slot: number;
  readonly generation: number;
  readonly index: number;
}

/** Host to worker: credit for a result stream, or its cancellation; items of an argument stream, or its end. */
export type StreamMessage =
  & StreamId
  & (
    | { readonly heddle: "credit"; readonly batches: number }
    | { readonly heddle: "cancel" }
    | { readonly heddle: "items"; readonly items: PackedItems }
    /** Without a reason: its source is done. */
    | {
      readonly heddle: "end";
      readonly reason: PackedReason | undefined;
      /** The iterator threw the reason by its `return()`. */
      readonly isOfReturn: boolean;
    }
  );

/** Worker to host: credit for an argument stream (0 batches: start), or its cancellation. */
export type ArgumentMessage =
  & StreamId
  & (
    | { readonly heddle: "credit"; readonly batches: number }
    | { readonly heddle: "cancel" }
  );

/** A batch in a message. */
export interface PackedItems {
  readonly count: number;
  /** Encoded, in the first `end` bytes. */
  readonly buffer: SharedArrayBuffer;
  readonly end: number;
  /** The bytes that count for credit. */
  readonly bytes: number;
  /** Objects that the encoded items refer to by index. */
  readonly attachments: readonly unknown[];
  /** Key lists that the items use and that were not sent before: the number of the first, then the lists. */
  readonly keyLists: string | undefined;
}
