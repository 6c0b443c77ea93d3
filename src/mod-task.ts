/**
 * The entry point for modules of tasks: {@link task}, schemas, {@link transfer}, {@link borrow}, {@link Envelope} and
 * {@link onTeardown}. Every worker loads the modules of its tasks: this entry point adds 52 KiB to what a
 * worker has loaded, `heddle` adds 341. `heddle` exports the same, and both may be used together.
 *
 * @example
 * ```ts
 * import { f64, struct, task } from "heddle/task";
 *
 * const Point = struct({ x: f64, y: f64 });
 * export const norm = task({ args: [Point], f: ({ x, y }) => Math.hypot(x, y) });
 * ```
 *
 * @module
 */
export { borrow, type Borrowed } from "./features/values/rare/kinds/borrow.ts";
export type {
  ArrayField,
  ArrayView,
  BoolField,
  BytesField,
  Field,
  Fields,
  Infer,
  InferInput,
  InferView,
  NumericArrayView,
  NumericField,
  OptionalField,
  Struct,
  StructView,
  Utf8Field,
} from "./features/values/structs/schema/field-types.ts";
export {
  array,
  bool,
  bytes,
  f32,
  f64,
  i16,
  i32,
  i64,
  i8,
  optional,
  struct,
  u16,
  u32,
  u64,
  u8,
  utf8,
} from "./features/values/structs/schema/schema.ts";
export {
  type ArgumentSchema,
  view,
  type ViewArgument,
} from "./features/values/structs/schema/declaration.ts";
export { Envelope, transfer } from "./features/values/rare/kinds/wrappers.ts";
export { onTeardown } from "./api/tasks/teardown.ts";
export {
  type CurrentPool,
  currentPool,
  type NestedCall,
  type NestedSyncCall,
} from "./features/calls/requests/task/current-pool.ts";
export type { Remote } from "./features/calls/objects/object-types.ts";
export type { Callback } from "./features/calls/requests/callback-of-host.ts";
export {
  type AnyHostFunctions,
  type Host,
  host,
  type HostFunctions,
} from "./features/calls/requests/task/host.ts";
export type { NestedOptions } from "./features/calls/requests/task/nested-options.ts";
export { emit, workerInfo } from "./api/tasks/worker-info.ts";
export type { WorkerInfo } from "./realm/worker-realm.ts";
export { task } from "./features/task.ts";
export type { PlaceOption, Task } from "./api/tasks/task-types.ts";
export type { StandardSchema } from "./features/values/structs/standard-schema.ts";
export { type CallPlace, callPlaceOf } from "./realm/call-site.ts";
export type { Priority, TaskOptions } from "./api/options/call-option-types.ts";
