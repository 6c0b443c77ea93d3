/**
 * A `nats-server` for tests, benchmarks and examples: NATS_SERVER, one in the PATH, or one fetched into `.nats/`, by
 * Debian's packages or built by Go. Prints its path: `node scripts/nats-server.ts`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../.nats/", import.meta.url));
/** Its go.mod asks for Go 1.24, which Debian's next release has. */
const MODULE = "github.com/nats-io/nats-server/v2@v2.11.10";

/** The path of the server, or the reason why there is none. */
export type Found = { readonly path: string } | { readonly reason: string };

const CANDIDATES: readonly string[] = [
  process.env["NATS_SERVER"] ?? "",
  join(folder, "bin/nats-server"),
  join(folder, "debian/usr/sbin/nats-server"),
  ...(process.env["PATH"] ?? "").split(delimiter).map((path) => join(path, "nats-server")),
];

/** Looks for a server without fetching one. */
export function findNatsServer(): Found {
  const path = CANDIDATES.find((candidate) => candidate !== "" && existsSync(candidate));
  return path === undefined
    ? { reason: "there is no nats-server: node scripts/nats-server.ts fetches it" }
    : { path };
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  const { status, error, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: "utf8",
    timeout: 300_000,
  });
  if (status === 0) return "";
  return `${command} ${args[0]}: ${error?.message ?? stderr.trim().split("\n").at(-1) ?? status}`;
}

function fromDebian(): string {
  const failure = run("apt-get", ["download", "nats-server"]);
  if (failure !== "") return failure;
  const file = readdirSync(folder).find((name) => name.endsWith(".deb"));
  if (file === undefined) return "apt-get download: no package was written";
  return run("dpkg-deb", ["-x", file, "debian"]);
}

const fromGo = (): string =>
  run("go", ["install", MODULE], { GOTOOLCHAIN: "local", GOBIN: join(folder, "bin") });

/** Looks for a server and fetches one if there is none. */
export function fetchNatsServer(): Found {
  const found = findNatsServer();
  if ("path" in found) return found;
  mkdirSync(folder, { recursive: true });
  const failures: string[] = [];
  for (const fetch of [fromDebian, fromGo]) {
    const failure = fetch();
    if (failure === "") return findNatsServer();
    failures.push(failure);
  }
  return { reason: `nats-server could not be fetched (${failures.join("; ")})` };
}

if (import.meta.main) {
  const found = fetchNatsServer();
  console.log("path" in found ? found.path : found.reason);
  if (!("path" in found)) process.exitCode = 1;
}
