/** TLS, credentials and permissions: what is allowed works, and what is refused rejects in time with a coded error. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type NatsConnection, nkeyAuthenticator, nkeys } from "@nats-io/transport-node";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connectPool, NoMachinesError, serve } from "../../src/mod-nats.ts";
import { bareMessage, BEGIN, CALL, PROBE } from "../../src/nats/wire/frames.ts";
import { MessageCodec } from "../../src/nats/wire/message-codec.ts";
import { currentRuntime } from "../../src/runtimes/current.ts";
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
const caller = (address: string, connection: Connection, further: object = {}) => {
  const options = { servers: address, subject: "secure.tasks", connection, ...further };
  const pool = connectPool(options)<Tasks>();
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
  const N = "secure_-tasks";
  const INBOX = "_INBOX.heddle";
  const own = [`${S}.call`, `${S}.all`, `${S}.machine.*`];
  const machineUser = (publish: string[] = [], subscribe: string[] = []): string =>
    user("machine", [`${INBOX}.>`, ...publish], [...own, "$SRV.>", ...subscribe]);
  const callerUser = (publish: string[] = [], name = "caller", inbox = INBOX): string =>
    user(name, [...own, ...publish], [`${inbox}.>`]);
  const durableMachine = [
    `${S}.durable.=.*`,
    `${S}.dead`,
    "$JS.API.>",
    `$JS.ACK.HEDDLE_${N}.>`,
    `$KV.heddle_${N}.>`,
  ];
  const durableCaller = [
    `${S}.durable.=.*`,
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.*",
    `$JS.API.CONSUMER.INFO.HEDDLE_${N}.heddle`,
    `$JS.API.STREAM.MSG.GET.KV_heddle_${N}`,
    `$JS.API.CONSUMER.*.KV_heddle_${N}.>`,
    `$JS.FC.KV_heddle_${N}.>`,
  ];
  const as = (name: string) => ({ user: name, pass: "x" });
  const asMachine = as("machine");
  const asCaller = as("caller");

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

  const expectDurable = async (pool: ReturnType<typeof caller>): Promise<void> => {
    expect(await pool.result(await pool.enqueue.add([1, 2], { delayMs: 50 }))).toBe(3);
    const failing = await pool.enqueue.fail(["no"], { retries: 0 });
    expect(await rejection(pool.result(failing))).toMatchObject({ message: "no" });
  };
  test("those of the docs suffice for durable calls", async () => {
    const address = await start(
      JETSTREAM + users(machineUser(durableMachine, ["_INBOX.>"]), callerUser(durableCaller)),
    );
    await machine(address, asMachine, { durable: true }).ready;
    await expectDurable(caller(address, asCaller));
  });

  test("a caller with an inbox of its own needs no other", async () => {
    const inboxPrefix = `${INBOX}.alice`;
    const address = await start(
      JETSTREAM + users(
        machineUser(durableMachine, ["_INBOX.>"]),
        callerUser(durableCaller, "caller", inboxPrefix),
      ),
    );
    await machine(address, asMachine, { durable: true }).ready;
    const pool = caller(address, asCaller, { inboxPrefix });
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(await pool.call.count(10_000).toArray()).toHaveLength(10_000);
    const bytes = new Uint8Array(3_000_000).fill(7);
    expect(Buffer.compare(await pool.call.echo(bytes) as Uint8Array, bytes)).toBe(0);
    await expectDurable(pool);
  });

  test("a machine with allow_responses answers to discovery", async () => {
    const answering = machineUser().replace(/\} \}$/, ", allow_responses: true } }");
    const address = await start(users(answering, user("admin", ["$SRV.>"], ["_INBOX.>"])));
    await machine(address, asMachine, { name: "here" }).ready;
    const admin = await connect({ servers: address, ...as("admin") });
    const { data } = await admin.request("$SRV.INFO.secure-tasks");
    expect(new TextDecoder().decode(data)).toContain('"machine":"here"');
    await admin.close();
  });

  /** The request `echo("forged")`, sent with this subject for the answer. */
  const forge = (connection: NatsConnection, reply: string): void => {
    const codec = new MessageCodec(currentRuntime, 1e6);
    const call = codec.encode(CALL, ["echo", undefined], ["forged"], "args");
    connection.publish(`${S}.call`, call, { reply });
  };

  test("a caller cannot have a machine publish what it may not", async () => {
    const address = await start(
      JETSTREAM + users(
        machineUser(["_INBOX.>", ...durableMachine], ["_INBOX.>", `${S}.>`]),
        callerUser(durableCaller, "other"),
        callerUser(),
      ),
    );
    const server = machine(address, asMachine, { durable: true });
    await server.ready;
    const victim = caller(address, as("other"));
    const attacker = await connect({ servers: address, ...asCaller });
    const watching = await connect({ servers: address, ...asMachine });
    const heard: string[] = [];
    for (const subject of ["_INBOX.*", "_INBOX.heddlex.>", `${S}.durable.=.*`]) {
      watching.subscribe(subject, { callback: (_error, msg) => void heard.push(msg.subject) });
    }
    await watching.flush();
    const outside = [`$KV.heddle_${N}.order-7`, "_INBOX.x", "_INBOX.heddlex.y", `${S}.durable.=.*`];
    const codec = new MessageCodec(currentRuntime, 1e6);
    for (const subject of outside) {
      forge(attacker, subject);
      attacker.publish(`${S}.call`, bareMessage(BEGIN, { count: 1, number: 3e6 }), {
        reply: subject,
      });
      // A question names the inbox, and the answer goes to its token 0.
      const inbox = subject.replace(/\.[^.]*$/, "");
      for (const to of [inbox, subject]) {
        attacker.publish(`${S}.all`, codec.encodeOwn(PROBE, [to, "a"], {}));
      }
    }
    await attacker.flush();
    expect(await victim.call.add(1, 2)).toBe(3); // behind those messages
    const id = await victim.enqueue.add([20, 22], { id: "order-7" });
    expect(await victim.result(id)).toBe(42);
    await watching.flush();
    expect(heard).toEqual([`${S}.durable.=.*`]);
    expect(server.stats()).toMatchObject({ completed: 1, failed: 0, refused: 0 });
    await attacker.close();
    await watching.close();
  });

  test("a caller cannot answer the calls of another one, also if it may read their answers", async () => {
    const address = await start(users(machineUser(), callerUser(), callerUser([], "other")));
    for (let n = 0; n < 2; n++) await machine(address, asMachine).ready;
    const attacker = await connect({ servers: address, ...asCaller });
    let inbox = "";
    const seen = new Set<string>();
    attacker.subscribe(`${INBOX}.>`, {
      callback: (_error, { subject }) => {
        const end = subject.lastIndexOf(".");
        inbox = subject.slice(0, end);
        seen.add(subject.slice(end + 1));
      },
    });
    await attacker.flush();
    const victim = caller(address, as("other"));
    expect(await victim.call.add(1, 2)).toBe(3);
    await until(() => seen.size > 0);
    const [last] = [...seen].map((token) => Number.parseInt(token, 36));
    const calls = Array.from({ length: 5 }, () => victim.call.sleep(300, "true"));
    for (let next = 1; next <= 5; next++) {
      forge(attacker, `${inbox}.${(last! + next).toString(36)}`);
    }
    expect(await Promise.all(calls)).toEqual(new Array(5).fill("true"));
    await attacker.close();
  });

  test("an inbox is not readable for a caller with another one", async () => {
    const [alice, bob] = [`${INBOX}.alice`, `${INBOX}.bob`];
    const address = await start(
      users(machineUser(), callerUser([], "alice", alice), callerUser([], "bob", bob)),
    );
    await machine(address, asMachine).ready;
    const pool = caller(address, as("bob"), { inboxPrefix: alice });
    const error = await rejection(pool.call.add(1, 2));
    expect(error).toBeInstanceOf(NoMachinesError);
    expect(String(error)).toContain(`subscribe to "${alice}.`);
    expect(await caller(address, as("alice"), { inboxPrefix: alice }).call.add(1, 2)).toBe(3);
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
    refusedCaller(`publish to "${S}.call"`, own.slice(1), [`${INBOX}.>`]));
  test("a caller that may not ask machines is told", () =>
    refusedCaller(`publish to "${S}.machine.`, [`${S}.call`, `${S}.all`], [`${INBOX}.>`]));
  test("a caller that may not get answers is told", () =>
    refusedCaller(`subscribe to "_INBOX.heddle.`, own, ["none"]));

  test("a caller that may not enqueue is told", async () => {
    const address = await start(
      JETSTREAM +
        users(machineUser(durableMachine, ["_INBOX.>"]), callerUser(durableCaller.slice(1))),
    );
    await machine(address, asMachine, { durable: true }).ready;
    const pool = caller(address, asCaller);
    expect(String(await rejection(pool.enqueue.add([1, 2])))).toContain(`${S}.durable.=.*`);
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
    refusedMachine(`subscribe to "${S}.call"`, [`${INBOX}.>`], [...own.slice(1), "$SRV.>"]));
  test("a machine that may not be asked does not start", () =>
    refusedMachine(`subscribe to "${S}.machine.`, [`${INBOX}.>`], [...own.slice(0, 2), "$SRV.>"]));
  test("a machine that may take calls no more ends", async () => {
    const address = await start(users(machineUser()));
    const server = machine(address, asMachine);
    await server.ready;
    reload(users(user("machine", [`${INBOX}.>`], [...own.slice(1), "$SRV.>"])));
    await server.stopped;
  });
  test("a machine that may not be discovered does not start", async () => {
    const address = await start(users(user("machine", [`${INBOX}.>`], own)));
    const error = await rejection(machine(address, asMachine).ready);
    expect(error).toBeInstanceOf(NoMachinesError);
    expect(String(error)).toContain("$SRV.");
    await machine(address, asMachine, { discovery: false }).ready;
  });
  test("a machine that may not answer does not start", () =>
    refusedMachine(`publish to "_INBOX.heddle.`, ["none"], [...own, "$SRV.>"]));
});
