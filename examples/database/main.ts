/** A database in a worker that keeps its connection. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool, listener } from "heddle";
import type { Book } from "./database.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-books-"));
const url = new URL("./database.ts", import.meta.url);
const pool = createPool({ threads: 1 })<typeof import("./database.ts")>(url);

const books = await pool.spawn.with({ restart: true }).Books(join(folder, "books.db"));
let added = 0;
const onAdded = listener((_book: Book) => void added++);
await books.onAdded(onAdded);

await Promise.all([
  books.add({ title: "Persuasion", author: "Austen" }),
  books.add({ title: "Emma", author: "Austen" }),
  books.add({ title: "Dracula", author: "Stoker" }),
]);
console.log(await books.titlesOf("Austen"));
for await (const { title, author } of books.all()) console.log(`${title}, by ${author}`);
console.log(`${added} books added`);

await books.$release();
onAdded[Symbol.dispose]();
await pool.shutdown();
rmSync(folder, { recursive: true });
