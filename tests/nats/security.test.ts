/** TLS, credentials and permissions: what is allowed works, and what is refused rejects in time with a coded error. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nkeyAuthenticator, nkeys } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connectPool, NoMachinesError, serve } from "../../src/mod-nats.ts";
import { rejection, until } from "../support/conformance.ts";
import { noServer, startServers } from "../support/nats.ts";
import { runScript } from "../support/runtime.ts";

type Tasks = typeof import("../fixtures/nats-tasks.ts");
const tasks = new URL("../fixtures/nats-tasks.ts", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "heddle-nats-security-"));
const file = (name: string): string => join(folder, name);

type Connection = NonNullable<Parameters<typeof connectPool>[0]["connection"]>;
type Closing = { shutdown(timeoutMs: number): Promise<void> };
let servers: Awaited<ReturnType<typeof startServers>> | undefined;
const open: Closing[] = [];

/** A reload refuses another name than that of the command line. */
const configure = (configuration: string): void =>
  writeFileSync(file("server.conf"), `server_name: server-0\n${configuration}`);
/** A server with this configuration file. */
async function start(configuration: string): Promise<string> {
  configure(configuration);
  servers = await startServers(1, ["-c", file("server.conf")]);
  return servers[0]!.address;
}
function reload(configuration: string): void {
  configure(configuration);
  servers![0]!.reload();
}
const machine = (address: string, connection: Connection, further: object = {}) => {
  const server = serve({
    servers: address,
    subject: "secure.tasks",
    connection,
    pool: { threads: 1 },
    terminates: false,
    ...further,
  })<Tasks>(tasks);
  open.push(server);
  return server;
};
const caller = (address: string, connection: Connection) => {
  const pool = connectPool({ servers: address, subject: "secure.tasks", connection })<Tasks>();
  open.push(pool);
  return pool;
};

/** Neither a caller nor a machine connects, and their process ends by itself. */
async function expectRefused(
  address: string,
  connection: object,
  reason: RegExp,
  seed?: string,
): Promise<void> {
  const options = { servers: address, subject: "secure", connection, seed };
  process.env["HEDDLE_NATS"] = JSON.stringify(options);
  const { code, output } = await runScript("nats-refused.ts");
  const lines = output.trim().split("\n");
  expect({ code, output, count: lines.length }).toEqual({ code: 0, output, count: 3 });
  for (const line of lines) {
    expect(line).toMatch(/^rejected HEDDLE_NO_MACHINES: No connection to NATS at /);
    expect(line).toMatch(reason);
  }
}

afterEach(async () => {
  for (const each of open.splice(0)) await each.shutdown(0);
  await servers?.stop();
  servers = undefined;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const noOpenssl = spawnSync("openssl", ["version"]).status === 0 ? undefined : "no openssl";
const noTls = noServer ?? noOpenssl;

describe.skipIf(noTls !== undefined)(`TLS${noTls ? ` (${noTls})` : ""}`, () => {
  /** `line`: words without spaces in them. */
  const openssl = (line: string): void => {
    const { status, stderr } = spawnSync("openssl", line.split(" "), {
      cwd: folder,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`openssl ${line}: ${stderr}`);
  };
  /** A key and what is signed with it: a certificate of its own with `-x509`, else a request for one. */
  const request = (name: string, further: string): void =>
    openssl(
      "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes " +
        `-subj /CN=${name} -keyout ${name}.key ${further}`,
    );
  const authority = (name: string): void => request(name, `-x509 -days 2 -out ${name}.pem`);
  const certificate = (name: string): void => {
    request(name, `-out ${name}.csr`);
    openssl(
      `x509 -req -in ${name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 ` +
        `-extfile names -out ${name}.pem`,
    );
  };
  const pem = (name: string): string => readFileSync(file(name), "utf8");
  const configuration = (further = ""): string =>
    `tls { timeout: 60, cert_file: "${file("server.pem")}", key_file: "${
      file("server.key")
    }", ${further} }`;

  beforeAll(() => {
    writeFileSync(file("names"), "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
    authority("ca");
    authority("other");
    certificate("server");
    certificate("client");
  });

  test("machines and callers connect by a CA of their own", async () => {
    const address = await start(configuration());
    await machine(address, { tls: { ca: pem("ca.pem") } }).ready;
    const pool = caller(address.replace("127.0.0.1", "localhost"), {
      tls: { caFile: file("ca.pem") },
    });
    expect(await pool.call.add(1, 2)).toBe(3);
    const bytes = new Uint8Array(3_000_000).fill(7);
    expect(Buffer.compare(await pool.call.echo(bytes) as Uint8Array, bytes)).toBe(0);
    expect(await pool.call.count(100).toArray()).toHaveLength(100);
  });

  test("a certificate of an unknown CA is refused", async () => {
    const address = await start(configuration());
    await expectRefused(address, { tls: { ca: pem("other.pem") } }, /certificate/i);
    await expectRefused(address, {}, /certificate/i);
  });

  test("servers may ask for certificates of clients", async () => {
    const address = await start(configuration(`ca_file: "${file("ca.pem")}", verify: true`));
    const tls = { ca: pem("ca.pem"), cert: pem("client.pem"), key: pem("client.key") };
    await machine(address, { tls }).ready;
    expect(await caller(address, { tls }).call.add(1, 2)).toBe(3);
    // The client does not hear why: it gives up after its own `timeout`.
    await expectRefused(address, { tls: { ca: pem("ca.pem") }, timeout: 1000 }, /timeout/);
  });
});

describe.skipIf(noServer !== undefined)(`credentials${noServer ? ` (${noServer})` : ""}`, () => {
  const REFUSED = /Authorization Violation/;

  test("a user and a password", async () => {
    const address = await start('authorization { timeout: 60, user: "heddle", password: "right" }');
    const connection = { user: "heddle", pass: "right" };
    await machine(address, connection).ready;
    expect(await caller(address, connection).call.add(1, 2)).toBe(3);
    await expectRefused(address, { user: "heddle", pass: "wrong" }, REFUSED);
    await expectRefused(address, {}, REFUSED);
  });

  test("refusals raise no uncaught errors, also in great numbers", async () => {
    const address = await start('authorization { timeout: 60, token: "right" }');
    const callers = Array.from({ length: 100 }, () => caller(address, { token: "wrong" }));
    const errors = await Promise.all(callers.map((pool) => rejection(pool.ready)));
    for (const error of errors) {
      expect(error).toMatchObject({ message: expect.stringMatching(REFUSED) });
    }
  });

  test("a token", async () => {
    const address = await start('authorization { timeout: 60, token: "right" }');
    await machine(address, { token: "right" }).ready;
    expect(await caller(address, { token: "right" }).call.add(1, 2)).toBe(3);
    await expectRefused(address, { token: "wrong" }, REFUSED);
  });

  test("credentials that are withdrawn end machines and calls", async () => {
    const address = await start('authorization { timeout: 60, token: "right" }');
    const server = machine(address, { token: "right" });
    await server.ready;
    const pool = caller(address, { token: "right" });
    const call = rejection(pool.call.sleep(60_000));
    await until(() => server.stats().inFlight === 1);
    reload('authorization { timeout: 60, token: "other" }');
    await server.stopped;
    expect(await call).toBeInstanceOf(NoMachinesError);
    expect(await rejection(pool.call.add(1, 2))).toBeInstanceOf(NoMachinesError);
  });

  test("an NKey", async () => {
    const [user, other] = [nkeys.createUser(), nkeys.createUser()];
    const address = await start(
      `authorization { timeout: 60, users: [{ nkey: ${user.getPublicKey()} }] }`,
    );
    const connection = { authenticator: nkeyAuthenticator(user.getSeed()) };
    await machine(address, connection).ready;
    expect(await caller(address, connection).call.add(1, 2)).toBe(3);
    await expectRefused(address, {}, REFUSED, new TextDecoder().decode(other.getSeed()));
  });
});

describe.skipIf(noServer !== undefined)(`permissions${noServer ? ` (${noServer})` : ""}`, () => {
  const S = "secure.tasks";
  const list = (subjects: readonly string[]): string => JSON.stringify(subjects);
  const user = (name: string, publish: readonly string[], subscribe: readonly string[]): string =>
    `{ user: ${name}, password: x, permissions: {
      publish: { allow: ${list(publish)} }, subscribe: { allow: ${list(subscribe)} } } }`;
  const users = (...all: readonly string[]): string =>
    `authorization { timeout: 60, users: [${all.join(", ")}] }`;
  const JETSTREAM = "jetstream: true\n";
  const own = [`${S}.call`, `${S}.all`, `${S}.machine.*`];
  const machineUser = (publish: string[] = [], subscribe: string[] = []): string =>
    user("machine", ["_INBOX.>", ...publish], [...own, "$SRV.>", ...subscribe]);
  const callerUser = (publish: string[] = []): string =>
    user("caller", [...own, ...publish], ["_INBOX.>"]);
  const asMachine = { user: "machine", pass: "x" };
  const asCaller = { user: "caller", pass: "x" };

  test("those of the docs suffice", async () => {
    const address = await start(users(machineUser(), callerUser()));
    await machine(address, asMachine).ready;
    const pool = caller(address, asCaller);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(await pool.call.sleep(100, "late")).toBe("late");
    expect(await pool.call.count(10_000).toArray()).toHaveLength(10_000);
    const bytes = new Uint8Array(3_000_000).fill(7);
    expect(Buffer.compare(await pool.call.echo(bytes) as Uint8Array, bytes)).toBe(0);
  });

  test("those of the docs suffice for durable calls", async () => {
    const durable = ["$JS.>", "$KV.>"];
    const address = await start(
      JETSTREAM + users(
        machineUser([`${S}.durable.=.*`, `${S}.dead`, ...durable], ["_INBOX.>"]),
        callerUser([`${S}.durable.=.*`, ...durable]),
      ),
    );
    await machine(address, asMachine, { durable: true }).ready;
    const pool = caller(address, asCaller);
    expect(await pool.result(await pool.enqueue.add([1, 2], { delayMs: 50 }))).toBe(3);
    const failing = await pool.enqueue.fail(["no"], { retries: 0 });
    expect(await rejection(pool.result(failing))).toMatchObject({ message: "no" });
  });

  const refusedCaller = async (name: string, publish: string[], subscribe: string[]) => {
    const address = await start(users(machineUser(), user("caller", publish, subscribe)));
    await machine(address, asMachine).ready;
    const pool = caller(address, asCaller);
    const error = await rejection(pool.call.sleep(20_000));
    expect(error).toBeInstanceOf(NoMachinesError);
    expect(String(error)).toContain(name);
    expect(await rejection(pool.call.add(1, 2))).toBe(error);
  };
  test("a caller that may not publish calls is told", () =>
    refusedCaller(`publish to "${S}.call"`, own.slice(1), ["_INBOX.>"]));
  test("a caller that may not ask machines is told", () =>
    refusedCaller(`publish to "${S}.machine.`, [`${S}.call`, `${S}.all`], ["_INBOX.>"]));
  test("a caller that may not get answers is told", () =>
    refusedCaller(`subscribe to "_INBOX.heddle.`, own, ["none"]));

  test("a caller that may not enqueue is told", async () => {
    const address = await start(
      JETSTREAM +
        users(machineUser([`${S}.dead`, "$JS.>", "$KV.>"], ["_INBOX.>"]), callerUser(["$JS.>"])),
    );
    await machine(address, asMachine, { durable: true }).ready;
    const pool = caller(address, asCaller);
    expect(String(await rejection(pool.enqueue.add([1, 2])))).toContain(`${S}.durable`);
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  const refusedMachine = async (name: string, publish: string[], subscribe: string[]) => {
    const address = await start(users(user("machine", publish, subscribe)));
    for (const discovery of [false, true]) {
      const server = machine(address, asMachine, { discovery });
      const error = await rejection(server.ready);
      expect(error).toBeInstanceOf(NoMachinesError);
      expect(String(error)).toContain(name);
      await server.stopped;
    }
  };
  test("a machine that may not take calls does not start", () =>
    refusedMachine(`subscribe to "${S}.call"`, ["_INBOX.>"], [...own.slice(1), "$SRV.>"]));
  test("a machine that may not be asked does not start", () =>
    refusedMachine(`subscribe to "${S}.machine.`, ["_INBOX.>"], [...own.slice(0, 2), "$SRV.>"]));
  test("a machine that may take calls no more ends", async () => {
    const address = await start(users(machineUser()));
    const server = machine(address, asMachine);
    await server.ready;
    reload(users(user("machine", ["_INBOX.>"], [...own.slice(1), "$SRV.>"])));
    await server.stopped;
  });
  test("a machine that may not be discovered does not start", async () => {
    const address = await start(users(user("machine", ["_INBOX.>"], own)));
    const error = await rejection(machine(address, asMachine).ready);
    expect(error).toBeInstanceOf(NoMachinesError);
    expect(String(error)).toContain("$SRV.");
    await machine(address, asMachine, { discovery: false }).ready;
  });
  test("a machine that may not answer does not start", () =>
    refusedMachine(`publish to "_INBOX.heddle.`, ["none"], [...own, "$SRV.>"]));
});
