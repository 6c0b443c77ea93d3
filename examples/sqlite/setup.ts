/** Runs in each worker before its tasks: opens the worker's own connection. */
import { DatabaseSync } from "node:sqlite";
import { onTeardown } from "heddle/task";

export default function setup({ path }: { readonly path: string }): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  onTeardown(() => database.close());
  return database;
}
