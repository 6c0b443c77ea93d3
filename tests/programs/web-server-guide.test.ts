/** The programs of docs/web-servers.md on the runtime that runs the tests: they answer, hear of clients that leave, and end. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksIn } from "../docs/blocks.ts";
import { rejection, until } from "../support/conformance.ts";
import { launch, type Launched } from "../support/processes.ts";
import { runtimeName } from "../support/runtime.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, ".guide-test", runtimeName);
const blocks = blocksIn("", readFileSync(join(root, "docs/web-servers.md"), "utf8"));
const fileOf = (name: string): string => blocks.find(({ file }) => file === name)!.code;
const fragmentWith = (text: string): string =>
  blocks.find(({ file, code }) => file === undefined && code.includes(text))!.code;

/** The server of the guide with its fragments, and what the test has to see. */
function honoServer(native?: string): string {
  const routes = fragmentWith("streamSSE") + fragmentWith("/report/:id");
  const own = /^const server = serve.*\n^const close = [^]*?\n};\n/m;
  const program = fileOf("server.ts");
  expect(program).toMatch(own);
  const [lines = ""] = own.exec(program)!;
  const stats =
    'app.get("/pools/stats.json", (context) => context.json({ hashes: pool.stats() }));\n';
  const handler = "  before: () => Promise.race([";
  expect(program).toContain(handler);
  return program.replace(lines, () => routes + stats + (native ?? lines))
    .replace(handler, "  before: () => closing.abort() ?? Promise.race([");
}

const FURTHER_TASKS = `
export const render = (id: string): string => hashPassword(id, "report");
export async function* progress(): AsyncGenerator<number> {
  for (let step = 0;; step++) {
    yield step;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
`;

const PROGRAMS: Readonly<Record<string, () => string>> = {
  "Hono": () => honoServer(),
  ...runtimeName === "deno" && { "Deno.serve": () => honoServer(fragmentWith("Deno.serve")) },
  ...runtimeName === "bun" && { "Bun.serve": () => honoServer(fragmentWith("Bun.serve")) },
  "node:http": () => fileOf("http-server.ts"),
  "Fastify": () => fileOf("fastify-server.ts"),
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tasks.ts"), fileOf("tasks.ts") + FURTHER_TASKS);
  writeFileSync(join(folder, "requests.ts"), fileOf("requests.ts"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(Object.keys(PROGRAMS))("%s", (name) => {
  const isHono = name === "Hono" || name.endsWith(".serve");
  let server: Launched;
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    const file = join(folder, `${name.replace(/\W/, "-")}.ts`);
    const program = PROGRAMS[name]!();
    expect(program).toContain("3000");
    // The server of the guide listens on all addresses, and on a port that may be in use.
    writeFileSync(
      file,
      program.replace(/port: 3000|listen\(3000/, (text) => text.replace("3000", String(port))),
    );
    const flags = runtimeName === "deno" ? ["run", "-A", "--quiet", "--no-lock"] : [];
    server = launch([process.execPath, ...flags, file], { cwd: folder });
    url = `http://localhost:${port}`;
    let hasEnded = false;
    void server.exited.then(() => hasEnded = true);
    let isThere = false;
    await until(
      () => isThere || hasEnded,
      async () =>
        isThere = await fetch(`${url}/pools/stats.json`).then(({ ok }) => ok, () => false),
    );
    expect({ isThere, output: server.output() }).toEqual({ isThere: true, output: "" });
  });
  afterAll(() => server?.kill());

  const hash = async (password: string, signal?: AbortSignal): Promise<string> => {
    const headers = { "content-type": "text/plain" };
    const response = await fetch(`${url}/hash`, {
      method: "POST",
      headers,
      body: password,
      signal: signal ?? null,
    });
    expect(response.status).toBe(200);
    return await response.text();
  };
  const stats = async () =>
    (await (await fetch(`${url}/pools/stats.json`)).json() as {
      readonly hashes: {
        readonly inFlight: number;
        readonly aborted: number;
        readonly openStreams: number;
      };
    }).hashes;

  test("answers", async () => {
    const [first, again, other] = await Promise.all([hash("a"), hash("a"), hash("b")]);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect([again === first, other === first]).toEqual([true, false]);
  });

  test.runIf(isHono)("ends a stream of events when its client leaves", async () => {
    const client = new AbortController();
    const { body } = await fetch(`${url}/progress`, { signal: client.signal });
    const reader = body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^data: 0\n/);
    expect((await stats()).openStreams).toBe(1);
    client.abort();
    await rejection(reader.closed);
    let open = 1;
    await until(() => open === 0, async () => open = (await stats()).openStreams);
  });

  test("aborts the calls of clients that leave", async () => {
    const client = new AbortController();
    const { signal } = client;
    const request = (n: number): Promise<unknown> =>
      isHono ? fetch(`${url}/report/${n}`, { signal }) : hash(`${n}`, signal);
    const settled = Promise.allSettled(Array.from({ length: 30 }, (_, n) => request(n)));
    let { inFlight, aborted } = await stats();
    await until(() => inFlight >= 10, async () => ({ inFlight, aborted } = await stats()));
    client.abort();
    await settled;
    await until(
      () => aborted > 0 && inFlight === 0,
      async () => ({ inFlight, aborted } = await stats()),
    );
  });

  test.runIf(!isHono)("shows the dashboard", async () => {
    const page = await fetch(`${url}/pools`);
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await page.text()).toContain("<title>heddle pools</title>");
    expect(await (await fetch(`${url}/pools/metrics`)).text()).toContain("heddle_calls_total");
    expect((await fetch(`${url}/pools/metrics`, { method: "HEAD" })).status).toBe(200);
  });

  test("answers what has arrived at a SIGTERM, and ends with clients that stay", async () => {
    // One that reads events, and one that never sends the whole of its request.
    const events = isHono ? await fetch(`${url}/progress`) : undefined;
    const staying = connect(Number(new URL(url).port), "localhost");
    staying.on("error", () => {});
    staying.write("POST /hash HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf");
    let answered = 0;
    // So few that a busy machine hashes them within the 3 s that the server waits.
    const calls = Array.from({ length: 8 }, (_, n) => hash(`${n}`).then(() => answered++));
    const settled = Promise.allSettled(calls);
    const open = events === undefined ? 0 : 1;
    let inFlight = 0;
    await until(() => inFlight >= 5, async () => inFlight = (await stats()).inFlight - open);
    const before = answered;
    server.send("SIGTERM");
    await events?.text(); // it ends, and is not cut
    const { code } = await server.exited;
    await Promise.all([settled, server.closed]);
    expect(answered).toBeGreaterThanOrEqual(Math.max(before, inFlight));
    expect(code).toBe(isHono ? 143 : 0);
    expect(server.output()).not.toContain("HEDDLE_"); // a request that is cut may be reported
    staying.destroy();
  });
});
