/** The example of tasks on other machines, as its comment says to run it. Imports the build. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { until } from "../support/conformance.ts";
import { MACHINES, noServer, startServers } from "../support/nats.ts";

const folder = fileURLToPath(new URL("../../examples/nats/", import.meta.url));

function run(script: string, servers: string): ReturnType<typeof spawn> {
  const [file = "", ...args] = MACHINES["node"]!;
  const env = { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", NATS_SERVERS: servers };
  return spawn(file, [...args, script], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
}

test.skipIf(noServer !== undefined)(
  `examples/nats${noServer ? ` (${noServer})` : ""}`,
  async () => {
    const servers = await startServers(1);
    const machine = run("machine.ts", servers[0]!.address);
    let served = "";
    machine.stdout!.on("data", (chunk) => served += String(chunk));
    await until(() => / serves$/m.test(served));
    const caller = run("main.ts", servers[0]!.address);
    let output = "";
    caller.stdout!.on("data", (chunk) => output += String(chunk));
    expect(await new Promise((resolve) => caller.on("close", resolve))).toBe(0);
    expect(output).toBe("9592\n1009\n");
    machine.kill("SIGTERM");
    const ended = new Promise((resolve) => machine.on("close", (code) => resolve(code ?? 143)));
    expect(await ended).toBe(143);
    await servers.stop();
  },
);
