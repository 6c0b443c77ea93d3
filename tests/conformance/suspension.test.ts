/** A process that is suspended: that time counts for no wait by which it takes others for dead. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { commandOf, pause } from "../support/runtime.ts";

/** Longer than what the process waits for. */
const SUSPENDED_MS = 600;

test("a thread of a suspended process is not taken for gone, nor is its lock broken", async () => {
  const file = fileURLToPath(
    new URL("../fixtures/scripts/suspended-sharing.ts", import.meta.url),
  );
  const [command, ...args] = commandOf(file);
  const child = spawn(command!, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let resumed = 0;
  child.stderr.on("data", (chunk) => output += String(chunk));
  child.stdout.on("data", (chunk) => output += String(chunk));
  const ended = new Promise((resolve) => child.on("close", resolve));
  let isOver = false;
  void ended.then(() => isOver = true);
  try {
    for (let looks = 0; !isOver; looks++) {
      await pause(20);
      const suspended = output.split("suspended\n").length - 1;
      // Again after long, if it had not stopped yet when it was told to go on.
      if (suspended === resumed && looks < 200) continue;
      await pause(SUSPENDED_MS);
      process.kill(child.pid!, "SIGCONT"); // not child.kill(): on Deno that works once
      resumed = suspended;
      looks = 0;
    }
  } finally {
    child.kill("SIGKILL");
  }
  expect(output).toContain("{");
  const { latch, end, reader } = JSON.parse(output.slice(output.indexOf("{"))) as Record<
    string,
    unknown
  >;
  expect(resumed).toBe(3);
  expect([Number(latch) > 60, Number(end) > 60, reader], output).toEqual([
    true,
    true,
    "waited for",
  ]);
}, 60_000);
