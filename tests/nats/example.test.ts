/** The example of tasks on other machines, as its comment says to run it. Imports the build. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { until } from "../support/conformance.ts";
import { launch, type Launched } from "../support/processes.ts";
import { MACHINES, noServer, startServers } from "../support/nats.ts";

const folder = fileURLToPath(new URL("../../examples/nats/", import.meta.url));

const run = (script: string, servers: string): Launched =>
  launch([...MACHINES["node"]!, script], { cwd: folder, env: { NATS_SERVERS: servers } });

test.skipIf(noServer !== undefined)(
  `examples/nats${noServer ? ` (${noServer})` : ""}`,
  async () => {
    const servers = await startServers(1);
    const machine = run("machine.ts", servers[0]!.address);
    await until(() => / serves$/m.test(machine.output()));
    const caller = run("main.ts", servers[0]!.address);
    const { code } = await caller.exited;
    await caller.closed;
    expect({ code, output: caller.output() }).toEqual({ code: 0, output: "9592\n1009\n" });
    await machine.kill("SIGTERM");
    const ended = await machine.exited;
    expect(ended.code ?? 143).toBe(143);
    await servers.stop();
  },
);
