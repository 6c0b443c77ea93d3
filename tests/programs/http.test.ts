/** The web servers of the benchmark `http`, on the runtime that runs the tests, and in other languages once. */
import { describe, expect, test } from "vitest";
import { Client } from "../../benchmarks/http/load/client.ts";
import { countAnswering } from "../../benchmarks/http/load/who.ts";
import { parseTime, parseWrk } from "../../benchmarks/http/load/wrk-output.ts";
import { isBuilt, nativeCommand } from "../../benchmarks/http/native-servers.ts";
import { compute, createJson, LIGHT, PATHS, TEXT } from "../../benchmarks/http/routes.ts";
import { serverCommand, startServer } from "../../benchmarks/http/server-process.ts";
import {
  CLUSTER,
  FASTIFY,
  LISTENING_WORKERS,
  OFFLOADING,
  ONE_THREAD,
} from "../../benchmarks/http/servers/kinds.ts";
import { GO, HYPER } from "../../benchmarks/scenarios/http-cases.ts";
import { runtimeName } from "../support/runtime.ts";

const STEPS = 1000;

/** Starts a server, uses it, and checks that it ends by itself. */
async function serve(
  command: readonly string[],
  use: (url: string) => Promise<void>,
): Promise<void> {
  const server = await startServer(command);
  let code: number | null = null;
  try {
    await use(server.url);
  } finally {
    code = await server.stop();
  }
  expect(code).toBe(0);
}

const own = (kind: string): readonly string[] => serverCommand(kind, { threads: 2, steps: STEPS });

/** The bodies of all paths, requested at once. */
async function bodiesOf(url: string, paths: readonly string[]): Promise<string[]> {
  const client = new Client(url, 4);
  const answers = await Promise.all(paths.map((path) => client.get(path)));
  client.close();
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  return answers.map(({ body }) => body);
}

/** Sends texts over a websocket and returns their echoes. */
function echoesOf(url: string, texts: readonly string[]): Promise<string[]> {
  const socket = new WebSocket(url.replace("http:", "ws:"));
  const echoes: string[] = [];
  return new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error("the websocket failed"));
    socket.onopen = () => texts.forEach((text) => socket.send(text));
    socket.onmessage = ({ data }) => {
      echoes.push(data as string);
      if (echoes.length < texts.length) return;
      socket.close();
      resolve(echoes);
    };
  });
}

const BODIES = [PATHS.text, PATHS.json];
const HELLO = [TEXT, '{"hello":"world"}'];

test("the JSON body", () => {
  expect(createJson()).toBe(HELLO[1]);
});

describe.each([ONE_THREAD, LISTENING_WORKERS, OFFLOADING])("%s", (kind) => {
  test("answers all paths and websockets, and stops", async () => {
    await serve(own(kind), async (url) => {
      expect(await bodiesOf(url, BODIES)).toEqual(HELLO);
      expect(await bodiesOf(url, [PATHS.light, PATHS.heavy, PATHS.light]))
        .toEqual([LIGHT, String(compute(STEPS)), LIGHT]);
      const [memory] = await bodiesOf(url, [PATHS.memory]);
      expect(Number(memory)).toBeGreaterThan(2 ** 20);
      const texts = ["a", "ä", "third"];
      expect(await echoesOf(url, texts)).toEqual(texts);
      const answering = await countAnswering(url);
      if (kind === LISTENING_WORKERS) expect(answering).toBe(2);
      else expect(answering).toBe(1);
    });
  });
});

describe.runIf(runtimeName === "node")("servers of Node", () => {
  test("node:cluster answers in two processes, and stops", async () => {
    await serve(own(CLUSTER), async (url) => {
      expect(await bodiesOf(url, [...BODIES, PATHS.light])).toEqual([...HELLO, LIGHT]);
      expect(await countAnswering(url)).toBe(2);
    });
  });

  test("Fastify answers, and stops", async () => {
    await serve(own(FASTIFY), async (url) => {
      expect(await bodiesOf(url, BODIES)).toEqual(HELLO);
    });
  });

  // Building them takes too long for a test: `./run.sh --only http` does.
  for (const name of [GO, HYPER]) {
    test.runIf(isBuilt(name))(`${name}, if it was built before, answers, and stops`, async () => {
      await serve(nativeCommand(name), async (url) => {
        expect(await bodiesOf(url, BODIES)).toEqual(HELLO);
      });
    });
  }
});

describe("the output of wrk", () => {
  const output = (more = ""): string =>
    `Running 5s test @ http://127.0.0.1:1/plaintext
  2 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     2.29ms  501.20us  11.02ms   92.30%
    Req/Sec    21.91k     1.66k   24.73k    70.00%
  Latency Distribution
     50%    2.18ms
     75%    2.33ms
     90%    2.60ms
     99%   12.50ms
  218033 requests in 5.01s, 27.03MB read
${more}Requests/sec:  43519.36
Transfer/sec:      5.40MB
`;

  test("is read", () => {
    expect(parseWrk(output())).toEqual({
      perSecond: 43519.36,
      meanMs: 2.29,
      p50Ms: 2.18,
      p99Ms: 12.5,
      count: 218_033,
    });
  });

  test("has times of several units", () => {
    expect(["0.00us", "501.20us", "2ms", "1.50s", "1.00m"].map(parseTime))
      .toEqual([0, 0.5012, 2, 1500, 60_000]);
    expect(() => parseTime("12")).toThrow("not a time");
  });

  test("with failures throws them", () => {
    const errors = "  Socket errors: connect 0, read 3, write 0, timeout 0\n";
    expect(() => parseWrk(output(errors))).toThrow("read 3");
    expect(() => parseWrk(output("  Non-2xx or 3xx responses: 7\n"))).toThrow("responses: 7");
    expect(() => parseWrk("")).toThrow("wrk printed no");
  });
});
