/** `pool.spawn`: the classes of modules as functions that make objects in workers. All else is loaded when the first is made. */
import { createTable } from "../../../../api/calls/call-proxy.ts";
import { ignoreRejections } from "../../../../host/dispatch/pending-arguments.ts";
import type { PoolAccess } from "../../../../api/pool/members.ts";

type Create = (...args: unknown[]) => Promise<object>;

let loaded: typeof import("./objects.ts") | undefined;

export function createSpawn(access: PoolAccess): object {
  /** Classes of a module; undefined: of that of the pool. */
  const classesOf = (module: unknown, options: readonly unknown[]): object =>
    createTable<Create>((name) => async (...args: unknown[]) => {
      ignoreRejections(args, access.spec.runtime.isPromise); // the call that sends them tells
      loaded ??= await import("./objects.ts");
      return await loaded.objectsOf(access).create({ module, name, args, options });
    });
  const withOptions = (options: readonly unknown[]): object => {
    const spawn = Object.assign((module: unknown) => classesOf(module, options), {
      with: (more: unknown) => withOptions([...options, more]),
    });
    return Object.setPrototypeOf(spawn, classesOf(undefined, options)) as object;
  };
  return withOptions([]);
}
