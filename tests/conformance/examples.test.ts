/** Every program of the folder `examples`, with its output. */
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { until } from "../support/conformance.ts";
import { launch } from "../support/processes.ts";
import { runFile, runtimeName } from "../support/runtime.ts";

const folder = new URL("../../examples/", import.meta.url);
const pathOf = (name: string): string => fileURLToPath(new URL(`${name}/main.ts`, folder));

/** Outputs without white space and quotes, which runtimes print differently. */
const outputs: Readonly<Record<string, string>> = {
  "hello": "Hello,world!",
  "module-of-tasks": "6.5[intime,toolate]true",
  "sqlite": "[[Emma,Persuasion],[Dracula]]",
  "database": "[Emma,Persuasion]Dracula,byStokerEmma,byAustenPersuasion,byAusten3booksadded",
  "language-service":
    "[Argumentoftypestringisnotassignabletoparameteroftypenumber.][]consttotal:numberconsttotal:string",
  "classifier": "cat:22dog:17bird:1inbatches",
  "lint-cli":
    [[3, 342], [13, 364], [23, 386], [33, 1]].map(([file, line]) =>
      `part-000/file-000${
        `${file}`.padStart(2, "0")
      }.ts:${line}:1:warning:somethingislefttodo(no-todo)`
    ).join("") + "40fileschecked:0errors,4warnings",
  "broadcast": "[1,1]20[2,2]Set(1){30}",
  "csv-rows": "Bergen:3300033Oslo:6599967200000rowsOslosoldfor91",
  "progress-bar": "10%20%30%40%50%60%70%80%90%100%3.14159",
  "upload-hash": "ceff544f043263133610e51a0a4df2f055d9148868025210317feb39c9c0d411".repeat(2),
  "word-count": "the:19998quick:9999brown:9999",
  // Times are left out.
  "csv-ranges": [
    "readline,withoutworkers",
    "readline,streamedtoaworker",
    "readLines,withoutworkers",
  ]
    .concat("readLines,rangesinworkers")
    .map((way) => `${way}:ms,Bergen,3330000Oslo,3330333Tromsø,3329667`).join(""),
  "big-json": [
    "madebyJSON.stringifyhere",
    "objectsofaworker,JSON.stringifyhere",
    "onestringofaworker",
    "blocksofaworker",
  ].map((way) => `${way}:blockedforms,result713520`).join("") +
    ["readbyJSON.parsehere", "readinaworker"]
      .map((way) => `${way}:blockedforms,result742500`).join(""),
  "matrix": "plain:000,shared:777withoutworkers:msinworkers:msequal:true",
  "pdf": ["without-a-worker", "in-a-worker"].map((way) => `${way}:okafterms,51pages,xref`).join(""),
  "scrypt": ["scryptSync", "scrypt", "scryptSyncinworkers"]
    .map((way) => `${way}:ms,eventloopblockedforms,afilereadinms`).join("") + "equal:true",
  "monte-carlo-pi": "3.143",
  "big-primes": "2^127-12^255-192^256-1892^512-569",
  "travelling-salesman": "36cities,length36.000",
  "jwt": "badsignature:1expired:11renewed:88",
  "password-hashing": "truefalsetrue",
  "markdown": "200<h1>Page7</h1><ul><li><strong>bold</strong></li><li><code>code</code></li></ul>",
  "react-rendering": "<ul><li>Tea<!----><b>3.00€</b></li></ul>true",
  "zod-validation":
    "498orders,thefirstforada@example.orgline10:email:invalid_formatline20:items.0.count:too_small",
  "image-resize": "[0,0,0]128x1282,0,128,25564x642,0,128,25532x322,0,128,255",
  "full-text-search": "mammalsfly:Bats,Whalescartilge:Sharksskel:Sharks",
  "csv-to-sqlite": "23%45%68%91%100%22000rowsBergen:5500rows,total264000Oslo:16500rows,total825000",
  "shared-cache":
    "30requests:20hits,10misses10requests:10hits,0misses60requests:0hits,60misses50pagesinthecache",
  "graph-search": "40000squaresvisited,40000differentthelastoneis134movesaway",
  "log-pipeline":
    "6000lines,6000entriesGET200:2400GET404:800GET500:800PUT200:1200PUT404:400PUT500:400",
  "job-table":
    "primesbelow1000:168primesbelow10000:1229primesbelow50000:5133primesbelow100000:9592primesbelow200000:179845jobsrun",
  "rate-limiter": "second0:accepted8ofAda,8ofGrace" +
    [1, 2, 3].map((second) => `second${second}:accepted3ofAda,3ofGrace`).join("") +
    "nevermorethan4atonce:true",
};

test("every example is tested and has a README", () => {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  // tests/package and scripts/extra.ts build and run `bundlers`, tests/browser opens `browser`.
  const others = ["browser", "bundlers", "nats", "observability", "server"];
  expect(names.sort()).toEqual([...Object.keys(outputs), ...others].sort());
  for (const name of names) expect(existsSync(new URL(`${name}/README.md`, folder))).toBe(true);
});

test.each(Object.keys(outputs))("%s prints its results and ends", async (name) => {
  const { code, output } = await runFile(pathOf(name));
  const lines = output.split("\n").filter((line) => !/Warning|--trace-warnings/.test(line));
  const plain = lines.join("").replace(/\b\d+ ms/g, "ms").replace(/[\s'"]/g, "").replace(
    ",}",
    "}",
  ).replace(",]", "]");
  expect({ code, plain }).toEqual({ code: 0, plain: outputs[name] });
});

interface Server {
  readonly port: string;
  /** Sends SIGTERM; the exit code and the output. */
  stop(): Promise<{ readonly code: number | null; readonly output: string }>;
}

async function startServer(name: string): Promise<Server> {
  const flags = runtimeName === "deno" ? ["run", "-A", "--quiet", "--no-lock"] : [];
  const server = launch([process.execPath, ...flags, pathOf(name)]);
  let hasEnded = false;
  void server.exited.then(() => hasEnded = true);
  const portIn = () => /port (\d+)/.exec(server.output())?.[1];
  await until(() => hasEnded || portIn() !== undefined);
  const port = portIn();
  if (port === undefined) throw new Error(`It did not start: ${server.output()}`);
  return {
    port,
    stop: async () => {
      server.send("SIGTERM");
      const { code } = await server.exited;
      await server.closed;
      return { code, output: server.output() };
    },
  };
}

test("server answers, refuses when it is busy, and stops cleanly on SIGTERM", async () => {
  const { port, stop } = await startServer("server");
  let ended: Awaited<ReturnType<Server["stop"]>>;
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
    const events = await fetch(`http://127.0.0.1:${port}/clock`);
    const reader = events.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("data: 0\n\n");
  } finally {
    ended = await stop(); // though a client reads events
  }
  expect(ended.code).toBe(0);
  expect(ended.output).toMatch(/stopped/);
});

/** Resolves when nothing listens on the port any more. */
async function untilRefused(port: string): Promise<void> {
  for (;;) {
    const isRefused = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("connect", () => resolve(false)).on("error", () => resolve(true));
      socket.on("connect", () => socket.destroy());
    });
    if (isRefused) return;
  }
}

test("server tells a client that keeps its connection to close it, when it stops", async () => {
  const { port, stop } = await startServer("server");
  const socket = connect(Number(port), "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", (text) => received += text);
  const head = "POST /hash HTTP/1.1\r\nhost: localhost\r\ncontent-length: 6\r\n\r\n";
  socket.write(`${head}secret`);
  await until(() => /\r\n\r\n.*[0-9a-f]{64}/s.test(received));
  expect(received).not.toMatch(/^connection: close/im);
  received = "";
  socket.write(`${head}sec`); // in flight
  const health = await fetch(`http://127.0.0.1:${port}/health`); // so the server has read it
  expect(await health.text()).toBe("ok");
  const stopped = stop();
  await untilRefused(port);
  socket.write("ret");
  await until(() => socket.readableEnded);
  socket.destroy();
  // Deno's server reads no more of a body once it stops.
  expect(received.slice(0, 12)).toBe(`HTTP/1.1 ${runtimeName === "deno" ? 500 : 200}`);
  expect(received).toMatch(/^connection: close\r$/im);
  expect(await stopped).toMatchObject({ code: 0, output: expect.stringMatching(/stopped/) });
});

test("observability shows traces that continue in a worker, a page and metrics", async () => {
  const { port, stop } = await startServer("observability");
  const get = async (path: string): Promise<string> =>
    await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  let ended: Awaited<ReturnType<Server["stop"]>>;
  try {
    expect(await get("/primes/1000")).toBe("168");
    expect(await get("/pools")).toContain("<title>heddle pools</title>");
    expect(JSON.parse(await get("/pools/stats.json"))).toMatchObject({ primes: { completed: 1 } });
    expect(await get("/pools/metrics"))
      .toContain('heddle_task_run_seconds_count{pool="primes",task="countPrimes"} 1\n');
  } finally {
    ended = await stop();
  }
  expect(ended.code).toBe(0);
  expect(ended.output).toContain("the pool was closed");
  // The exporter prints its fields as the console of each runtime does.
  const all = (pattern: RegExp): string[] =>
    [...ended.output.matchAll(pattern)].map(([, found]) => found!);
  const traces = all(/\btraceId: ["']([0-9a-f]{32})["']/g);
  expect(traces.length).toBeGreaterThanOrEqual(2);
  expect(new Set(traces).size).toBe(1);
  expect(all(/\bname: ["'](task countPrimes|GET \/primes)["']/g).sort())
    .toEqual(["GET /primes", "task countPrimes"]);
});
