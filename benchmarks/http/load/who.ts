/** Which threads or processes of a server answer. */
import { PATHS } from "../routes.ts";
import { Client } from "./client.ts";

/** With two threads, one alone would answer all of these by chance once in 2 ** 39 times. */
const CONNECTIONS = 40;

/** The number of threads that answer a few new connections. */
export async function countAnswering(url: string): Promise<number> {
  const answers = await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    const client = new Client(url, 1);
    const { body } = await client.get(PATHS.who);
    client.close();
    return body;
  }));
  return new Set(answers).size;
}
