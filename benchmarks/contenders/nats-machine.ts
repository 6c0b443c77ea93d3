/**
 * A machine for the scenario `nats`: `heddle` serves the tasks with one thread, `raw` answers in its event loop, and
 * `pool` hands what it gets to a pool of one thread.
 */
import { connect, type Msg } from "@nats-io/transport-node";
import { createPool } from "../../dist/mod.js";
import { serve } from "../../dist/nats.js";
import { spin } from "./nats-tasks.ts";

type Tasks = typeof import("./nats-tasks.ts");
const url = new URL("./nats-tasks.ts", import.meta.url);
const [kind, servers = ""] = process.argv.slice(2);

async function answer(subject: string, respond: (msg: Msg) => void): Promise<void> {
  const connection = await connect({ servers });
  connection.subscribe(subject, { queue: "raw", callback: (_, msg) => respond(msg) });
  await connection.flush();
}

if (kind === "raw") {
  await answer("raw.echo", (msg) => void msg.respond(msg.data));
  await answer("raw.spin", (msg) => void msg.respond(`${spin(Number(msg.string()))}`));
} else if (kind === "pool") {
  const { call, ready } = createPool({ threads: 1 })<Tasks>(url);
  await ready;
  await answer("raw.echo", (msg) => {
    void call.echo(msg.string()).then((text) => msg.respond(text));
  });
  await answer("raw.spin", (msg) => {
    void call.spin(Number(msg.string())).then((turns) => msg.respond(`${turns}`));
  });
} else {
  await serve({ servers, subject: "heddle", pool: { threads: 1 } })(url).ready;
}
console.log("ready");
