import type { DatabaseSync } from "node:sqlite";
import { workerInfo } from "heddle/task";

export function titlesOf(author: string): string[] {
  const { context: database } = workerInfo<DatabaseSync>()!;
  const rows = database.prepare("SELECT title FROM books WHERE author = ? ORDER BY title").all(
    author,
  );
  return rows.map(({ title }) => String(title));
}
