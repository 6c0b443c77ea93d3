/** Runs a load in a process of its own, always on the project's Node: all servers meet the same client. */
import { fileURLToPath } from "node:url";
import { NODE, runProcess } from "../../harness/processes.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/** The message of the error that ended the process. */
const reasonIn = (stderr: string): string =>
  /^(?:\w*Error(?: \[\w+\])?: .*)$/m.exec(stderr)?.[0] ?? stderr.trim().split("\n").at(-1) ?? "";

/** What the load resolved with. Rejects with what it threw. */
export async function runLoad<Result>(name: string, options: object): Promise<Result> {
  try {
    const command = [NODE, main, name, JSON.stringify(options)];
    return await runProcess<Result>(command, { env: { NODE_OPTIONS: "" }, reasonIn });
  } catch (error) {
    throw new Error(`load ${name} ${(error as Error).message.replace("\n", ": ")}`);
  }
}
