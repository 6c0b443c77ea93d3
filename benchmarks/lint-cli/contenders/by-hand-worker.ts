/** The worker of the pool that is written by hand. */
import { parentPort } from "node:worker_threads";
import { checkFile } from "../../../examples/lint-cli/check-file.ts";

function outcomeOf(path: string): object {
  try {
    return { problems: checkFile(path) };
  } catch (error) {
    return { error };
  }
}

parentPort!.on("message", (paths: readonly string[]) => {
  parentPort!.postMessage(paths.map(outcomeOf));
});
