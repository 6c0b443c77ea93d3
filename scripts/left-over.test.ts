/** The check of `npm test` for processes that a suite has left running. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findLeftOver, RUN_VARIABLE, waitForLeftOver } from "./left-over.ts";
import { launch } from "../tests/support/processes.ts";

const node = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));

test("finds what a command has left, also by way of another process, and what ends by itself", async () => {
  const run = `test-${process.pid}-${Math.random()}`;
  expect(findLeftOver(run)).toEqual([]);
  const sleeper = "setInterval(() => {}, 1000)";
  const code = `
    const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, ["-e", "${sleeper}"], { stdio: "ignore", detached: true });
    child.unref();
    console.log("left " + child.pid);
  `;
  const command = launch([node, "-e", code], { env: { [RUN_VARIABLE]: run } });
  await command.closed;
  const left = findLeftOver(run);
  try {
    expect(left).toHaveLength(1);
    expect(command.output()).toContain(`left ${left[0]!.pid}`);
    expect(left[0]!.command).toContain(sleeper);
    expect(findLeftOver(run.slice(0, -1))).toEqual([]);
  } finally {
    for (const { pid } of left) process.kill(pid, "SIGKILL");
  }
  expect(await waitForLeftOver(run)).toEqual([]);
});
