import { createReadStream, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { emit } from "heddle/task";

const ROWS_PER_TRANSACTION = 5000;

/** Imports `city,amount` lines. Tells after each transaction how far it has come; returns the number of rows. */
export async function importSales(csv: string, databasePath: string): Promise<number> {
  const bytes = statSync(csv).size;
  const database = new DatabaseSync(databasePath);
  database.exec("CREATE TABLE sales (city TEXT, amount INTEGER); BEGIN");
  const insert = database.prepare("INSERT INTO sales VALUES (?, ?)");
  let rows = -1; // the first line has the names of the columns
  let read = 0;
  for await (const line of createInterface({ input: createReadStream(csv, "utf8") })) {
    read += line.length + 1;
    if (++rows === 0) continue;
    const [city = "", amount] = line.split(",");
    insert.run(city, Number(amount));
    if (rows % ROWS_PER_TRANSACTION !== 0) continue;
    database.exec("COMMIT; BEGIN");
    emit({ percent: Math.round(100 * read / bytes) });
  }
  database.exec("COMMIT; CREATE INDEX by_city ON sales (city)");
  database.close();
  emit({ percent: 100 });
  return rows;
}
