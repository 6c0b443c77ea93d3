/** NATS servers and worker machines for tests. Each is a process of its own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findNatsServer } from "../../scripts/nats-server.ts";
import { launch, type Launched } from "./processes.ts";

const found = findNatsServer();
/** Why tests with a server are skipped; undefined if there is one. */
export const noServer: string | undefined = "path" in found ? undefined : found.reason;

const root = fileURLToPath(new URL("../../", import.meta.url));
const bin = (path: string): string => join(root, "node_modules", path);

/** The runtimes of machines, whichever one the test itself runs on. */
export const MACHINES: Readonly<Record<string, readonly string[]>> = {
  node: [bin("node/bin/node")],
  deno: [bin(".bin/deno"), "run", "-A", "--quiet", "--no-lock"],
  bun: [bin(".bin/bun")],
};

/** Starts a process and waits for output: what the first pattern matched. Rejects with the output if it ends before. */
async function start(
  command: readonly string[],
  patterns: readonly RegExp[],
  env: NodeJS.ProcessEnv = {},
): Promise<Launched & { readonly match: RegExpMatchArray }> {
  const launched = launch(command, { cwd: root, env });
  const match = await new Promise<RegExpMatchArray>((resolve, reject) => {
    launched.onOutput((output) => {
      const matches = patterns.map((pattern) => pattern.exec(output));
      if (matches.every((match) => match !== null)) {
        resolve(matches[0]!);
      }
    });
    launched.exited.then(
      ({ code }) => reject(new Error(`${command[0]} ended with ${code}:\n${launched.output()}`)),
      reject,
    );
  });
  await launched.guarded;
  return { ...launched, match };
}

export interface NatsServer {
  readonly address: string;
  /** What it has printed. */
  readonly output: () => string;
  kill(): Promise<void>;
  /** Starts it again after `kill`, at the same address; `isWiped`: without what it has stored. */
  restart(isWiped?: boolean): Promise<void>;
  /** Reads its configuration file again. */
  reload(): void;
}

/** On any free port. */
const LOOPBACK: readonly string[] = ["-a", "127.0.0.1", "-p", "-1"];
const CLIENTS = /Listening for client connections on (127\.0\.0\.1:\d+)/;
const ROUTES = /Listening for route connections on (127\.0\.0\.1:\d+)/;

/** Starts servers; several form a cluster. With `args` for each. */
export async function startServers(
  count: number,
  args: readonly string[] = [],
): Promise<readonly NatsServer[] & { stop(): Promise<void> }> {
  if (!("path" in found)) throw new Error(found.reason);
  const data = mkdtempSync(join(tmpdir(), "heddle-nats-"));
  const servers: NatsServer[] = [];
  const stop = async (): Promise<void> => {
    for (const server of servers) await server.kill();
    rmSync(data, { recursive: true, force: true });
  };
  try {
    let route: string | undefined;
    for (let index = 0; index < count; index++) {
      const name = `server-${index}`;
      const cluster = ["--cluster_name", "heddle", "--cluster", "nats://127.0.0.1:-1"];
      const routes = route === undefined ? [] : ["--routes", `nats://${route}`];
      const command = [
        found.path,
        ...LOOPBACK,
        "-n",
        name,
        "-sd",
        join(data, name),
        ...(count > 1 ? [...cluster, ...routes] : []),
        ...args,
      ];
      const patterns = count > 1 ? [CLIENTS, ROUTES] : [CLIENTS];
      let running = await start(command, patterns);
      const address = running.match[1]!;
      const again = command.with(command.indexOf("-p") + 1, address.split(":")[1]!);
      route ??= ROUTES.exec(running.output())?.[1];
      servers.push({
        address,
        output: () => running.output(),
        kill: () => running.kill(),
        restart: async (isWiped = false) => {
          if (isWiped) rmSync(join(data, name), { recursive: true, force: true });
          running = await start(again, patterns);
        },
        reload: () => running.send("SIGHUP"),
      });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return Object.assign(servers, { stop });
}

export interface MachineProcess {
  readonly name: string;
  readonly output: () => string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  readonly exited: Promise<number | null>;
}

/** Starts a process that serves `tests/fixtures/nats-tasks.ts`; resolves when it takes calls. */
export async function startMachine(
  name: string,
  options: object,
  runtime = "node",
): Promise<MachineProcess> {
  const command = [...MACHINES[runtime]!, join(root, "tests/fixtures/scripts/nats-machine.ts")];
  const env = { HEDDLE_MACHINE: JSON.stringify({ name, ...options }) };
  const { output, kill, exited } = await start(command, [/^serving$/m], env);
  return {
    name,
    output,
    kill,
    // Not every runtime catches the signal before it ends the process.
    exited: exited.then(({ code, signal }) => signal === "SIGTERM" ? 143 : code),
  };
}
