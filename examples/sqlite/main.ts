/** Queries a database in workers, with a connection per worker. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createPool } from "heddle";

const folder = mkdtempSync(join(tmpdir(), "heddle-books-"));
const path = join(folder, "books.db");
const database = new DatabaseSync(path);
database.exec(`
  CREATE TABLE books (title TEXT, author TEXT);
  INSERT INTO books VALUES ('Persuasion', 'Austen'), ('Emma', 'Austen'), ('Dracula', 'Stoker');
`);
database.close();

const setup = new URL("./setup.ts", import.meta.url);
const tasks = new URL("./tasks.ts", import.meta.url);
const pool = createPool({ threads: 2, worker: { setup, data: { path } } })<
  typeof import("./tasks.ts")
>(tasks);
console.log(await Promise.all(["Austen", "Stoker"].map((author) => pool.call.titlesOf(author))));
await pool.shutdown();
rmSync(folder, { recursive: true });
