/** The processes that these tests start end with the test, also if it is killed or has sent them other signals before. */
import { connect } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { until } from "../support/conformance.ts";
import { launch } from "../support/processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { MACHINES, noServer, startServers } from "../support/nats.ts";

const isReachable = async (servers: string): Promise<boolean> => {
  try {
    const connection = await connect({ servers, reconnect: false, timeout: 1000 });
    await connection.close();
    return true;
  } catch {
    return false;
  }
};

describe.skipIf(noServer !== undefined)(`servers${noServer ? ` (${noServer})` : ""}`, () => {
  test("end after a reload as before it", async () => {
    const servers = await startServers(1);
    const { address, reload } = servers[0]!;
    reload();
    await until(() => /reload/i.test(servers[0]!.output()));
    expect(await isReachable(address)).toBe(true);
    await servers.stop();
    expect(await isReachable(address)).toBe(false);
  });

  test.each(Object.keys(MACHINES))("end with a process of %s that is killed", async (runtime) => {
    const script = new URL("../fixtures/scripts/nats-server-only.ts", import.meta.url).pathname;
    // The killed process cannot remove the data of its server.
    const owner = launch([...MACHINES[runtime]!, script], { env: { TMPDIR: temporaryFolder() } });
    await until(() => /^address \S+$/m.test(owner.output()));
    const address = /^address (\S+)$/m.exec(owner.output())![1]!;
    expect(await isReachable(address)).toBe(true);
    await owner.kill();
    let isThere = true;
    await until(() => !isThere, async () => isThere = await isReachable(address));
  });
});
