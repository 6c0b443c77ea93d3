/** Names of what `shared` measures. Programs in Go and Rust print those of channels and mutexes too. */
export const GET = "get a value";
export const SET = "set a value";
/** One thread sends values and then receives them. */
export const CHANNEL_ALONE = "channel, one thread";
export const CHANNEL = "channel, thread to thread";
export const MUTEX = "mutex, lock and release";

export const HEDDLE = "heddle";
/** A call of a task that returns the value. */
export const CALL = "hot call";
export const MAP = "Map of one thread";
export const CLONE = "structuredClone";
/** The ring of heddle's calls by itself: both threads spin, and nothing is encoded. */
export const RING = "raw ring";
export const GO = "Go";
export const RUST = "Rust std";
export const CROSSBEAM = "crossbeam-channel";
export const TOKIO = "tokio mpsc";

export const CONTENDERS = [
  HEDDLE,
  CALL,
  MAP,
  CLONE,
  RING,
  GO,
  RUST,
  CROSSBEAM,
  TOKIO,
] as const;
export const MAP_CONTENDERS = [HEDDLE, CALL, MAP, CLONE] as const;
export const CHANNEL_CONTENDERS = [HEDDLE, RING, GO, RUST, CROSSBEAM, TOKIO] as const;
export const MUTEX_CONTENDERS = [HEDDLE, GO, RUST] as const;

/** Sizes of `GET`, `SET` and channels, in bytes. */
export const NUMBER_BYTES = 8;
export const OBJECT_BYTES = 200;
export const VALUE_BYTES = [NUMBER_BYTES, OBJECT_BYTES] as const;
/** Sizes of `MUTEX`: threads that want it. */
export const LOCKING_THREADS = [1, 2] as const;

/** Values that a channel holds. */
export const CAPACITY = 1024;
/** Values that one thread sends before it receives them. */
export const ALONE_BATCH = 512;
