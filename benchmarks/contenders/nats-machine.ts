/** A machine for the scenario `nats`: `heddle` serves the tasks with one thread, `raw` answers in its event loop. */
import { connect } from "@nats-io/transport-node";
import { serve } from "../../dist/nats.js";
import { spin } from "./nats-tasks.ts";

const [kind, servers = ""] = process.argv.slice(2);
if (kind === "raw") {
  const connection = await connect({ servers });
  connection.subscribe("raw", { queue: "raw", callback: (_, msg) => void msg.respond(msg.data) });
  connection.subscribe("raw-spin", {
    queue: "raw",
    callback: (_, msg) => void msg.respond(`${spin(Number(msg.string()))}`),
  });
  await connection.flush();
} else {
  const url = new URL("./nats-tasks.ts", import.meta.url);
  await serve(url, { servers, subject: "heddle", pool: { threads: 1 } }).ready;
}
console.log("ready");
