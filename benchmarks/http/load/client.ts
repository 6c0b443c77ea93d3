/** Requests by `node:http` over connections that stay open. */
import { Agent, request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends GETs over at most so many connections; more requests wait for one. */
export class Client {
  readonly #agent: Agent;
  readonly #target: { readonly host: string; readonly port: number };

  constructor(url: string, connections: number) {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: connections,
      maxFreeSockets: connections,
    });
  }

  get(path: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...this.#target, path, agent: this.#agent }, (incoming) => {
        let body = "";
        incoming.setEncoding("utf8").on("data", (part: string) => body += part);
        incoming.on("end", () => resolve({ status: incoming.statusCode!, body }));
        incoming.on("error", reject);
      });
      outgoing.on("error", reject);
      outgoing.end();
    });
  }

  /** Throws unless the answer is 200 and, where one is given, the body. */
  async check(path: string, expected?: string): Promise<void> {
    const { status, body } = await this.get(path);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    if (expected !== undefined && body !== expected) throw new Error(`${path} answered ${body}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}
