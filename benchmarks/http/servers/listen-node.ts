/** `node:http`, and `ws` for websockets. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import {
  createJson,
  HOST,
  LIGHT,
  type Listen,
  PATHS,
  residentBytes,
  TEXT,
  usedCpuUs,
  type Work,
} from "../routes.ts";

const PLAIN = "text/plain";

function send(response: ServerResponse, body: string, type = PLAIN): void {
  response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
}

function answer(path: string | undefined, response: ServerResponse, work: Work): void {
  switch (path) {
    case PATHS.text:
      return send(response, TEXT);
    case PATHS.json:
      return send(response, createJson(), "application/json");
    case PATHS.light:
      return send(response, LIGHT);
    case PATHS.heavy:
      return void answerHeavy(response, work);
    case PATHS.who:
      return send(response, work.who);
    case PATHS.memory:
      return send(response, residentBytes());
    case PATHS.cpu:
      return send(response, usedCpuUs());
    default:
      response.writeHead(404).end();
  }
}

async function answerHeavy(response: ServerResponse, work: Work): Promise<void> {
  try {
    send(response, String(await work.heavy()));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}

export const listen: Listen = ({ port, reusePort }, work) => {
  const { reply } = work;
  const server = createServer((request, response) => {
    if (reply === undefined) return answer(request.url, response, work);
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => text += part);
    request.on("end", () => response.end(reply(text)));
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  sockets.on("connection", (socket) => {
    socket.on("message", (data, isBinary) => {
      if (reply === undefined) socket.send(data, { binary: isBinary });
      else socket.send(reply(String(data)));
    });
  });
  return new Promise((resolve, reject) => {
    // It repeats the errors of the server.
    sockets.once("error", reject);
    server.listen({ port, host: HOST, reusePort }, () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () =>
          new Promise((closed) => {
            for (const socket of sockets.clients) socket.terminate();
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
};
