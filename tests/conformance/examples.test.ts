/** Every program of the folder `examples`, with its output. */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runFile, runtimeName } from "../support/runtime.ts";

const folder = new URL("../../examples/", import.meta.url);
const pathOf = (name: string): string => fileURLToPath(new URL(`${name}/main.ts`, folder));

/** Outputs without white space and quotes, which runtimes print differently. */
const outputs: Readonly<Record<string, string>> = {
  "hello": "Hello,world!",
  "module-of-tasks": "6.5[intime,toolate]true",
  "sqlite": "[[Emma,Persuasion],[Dracula]]",
  "broadcast": "[1,1]20[2,2]Set(1){30}",
  "csv-rows": "Bergen:3300033Oslo:6599967200000rowsOslosoldfor91",
  "progress-bar": "10%20%30%40%50%60%70%80%90%100%3.14159",
  "upload-hash": "ceff544f043263133610e51a0a4df2f055d9148868025210317feb39c9c0d411".repeat(2),
  "word-count": "the:19998quick:9999brown:9999",
};

test("every example is tested", () => {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  expect(names.sort()).toEqual([...Object.keys(outputs), "server", "nats"].sort());
});

test.each(Object.keys(outputs))("%s prints its results and ends", async (name) => {
  const { code, output } = await runFile(pathOf(name));
  const lines = output.split("\n").filter((line) => !/Warning|--trace-warnings/.test(line));
  const plain = lines.join("").replace(/[\s'"]/g, "").replace(",}", "}").replace(",]", "]");
  expect({ code, plain }).toEqual({ code: 0, plain: outputs[name] });
});

describe("server", () => {
  test("answers, refuses when it is busy, and stops cleanly on SIGTERM", async () => {
    const flags = runtimeName === "deno" ? ["run", "-A", "--quiet", "--no-lock"] : [];
    const child = spawn(process.execPath, [...flags, pathOf("server")], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1" },
    });
    let output = "";
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const port = await new Promise<string>((resolve, reject) => {
      child.stderr.on("data", (chunk) => output += String(chunk));
      child.stdout.on("data", (chunk) => {
        output += String(chunk);
        const match = /port (\d+)/.exec(output);
        if (match !== null) resolve(match[1]!);
      });
      child.on("close", () => reject(new Error(`It did not start: ${output}`)));
    });
    try {
      const hash = async (password: string): Promise<readonly [number, string]> => {
        const init = { method: "POST", body: password };
        const response = await fetch(`http://127.0.0.1:${port}/hash`, init);
        return [response.status, await response.text()];
      };
      const [status, text] = await hash("secret");
      expect({ status, length: text.length }).toEqual({ status: 200, length: 64 });
      for (let n = 0; n < 5; n++) await hash("again"); // its run time is known now
      const flood = Array.from({ length: 60 }, (_, n) => hash(`${n}`));
      const health = await fetch(`http://127.0.0.1:${port}/health`);
      expect(await health.text()).toBe("ok");
      const answers = await Promise.all(flood);
      const statuses = new Set(answers.map(([code]) => code));
      expect([...statuses].sort()).toEqual([200, 503]);
    } finally {
      // Not by `child.kill`, after which Deno reports a signal instead of the exit code (2.9).
      process.kill(child.pid!, "SIGTERM");
    }
    expect(await ended).toBe(0);
    expect(output).toMatch(/stopped/);
  });
});
