/** The routes for runtimes whose servers take a `Request` and return a `Response`. */
import { createJson, LIGHT, PATHS, residentBytes, TEXT, usedCpuUs, type Work } from "../routes.ts";

const JSON_TYPE = { headers: { "content-type": "application/json" } };

/** The path of `http://host/path`: parsing the whole URL would cost more than the answer. */
const pathOf = (url: string): string => url.slice(url.indexOf("/", "http://".length));

export function answer(request: Request, work: Work): Response | Promise<Response> {
  if (work.reply !== undefined) return reply(request, work.reply);
  switch (pathOf(request.url)) {
    case PATHS.text:
      return new Response(TEXT);
    case PATHS.json:
      return new Response(createJson(), JSON_TYPE);
    case PATHS.light:
      return new Response(LIGHT);
    case PATHS.heavy:
      return answerHeavy(work);
    case PATHS.who:
      return new Response(work.who);
    case PATHS.memory:
      return new Response(residentBytes());
    case PATHS.cpu:
      return new Response(usedCpuUs());
    default:
      return new Response("", { status: 404 });
  }
}

const reply = async (request: Request, reply: NonNullable<Work["reply"]>): Promise<Response> =>
  new Response(reply(await request.text()));

async function answerHeavy(work: Work): Promise<Response> {
  return new Response(String(await work.heavy()));
}
