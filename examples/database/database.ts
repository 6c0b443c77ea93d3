/** Lives in a worker: one connection, and all that changes the rows. */
import { DatabaseSync } from "node:sqlite";
import type { Callback } from "heddle/task";

export interface Book {
  readonly title: string;
  readonly author: string;
}

export class Books {
  readonly #database: DatabaseSync;
  #onAdded: Callback<(book: Book) => void> | undefined;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec("CREATE TABLE IF NOT EXISTS books (title TEXT, author TEXT)");
  }

  add(book: Book): void {
    this.#database.prepare("INSERT INTO books VALUES (?, ?)").run(book.title, book.author);
    this.#onAdded?.(book).catch(() => {}); // the host may have disposed of it
  }

  titlesOf(author: string): string[] {
    const query = this.#database.prepare("SELECT title FROM books WHERE author = ? ORDER BY title");
    return query.all(author).map(({ title }) => String(title));
  }

  *all(): Generator<Book> {
    const rows = this.#database.prepare("SELECT title, author FROM books ORDER BY title").all();
    for (const { title, author } of rows) yield { title: String(title), author: String(author) };
  }

  onAdded(listener: Callback<(book: Book) => void>): void {
    this.#onAdded = listener;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
