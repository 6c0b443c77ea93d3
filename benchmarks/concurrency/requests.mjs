/**
 * The task of every JavaScript contender: five requests one after the other. Plain JavaScript, so that no thread strips
 * types first.
 */
import { Agent, get } from "node:http";

export const REQUESTS = 5;

/** One agent per thread; it keeps a connection for each task. */
const agent = new Agent({ keepAlive: true });

const bodyOf = (url) =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text) => body += text);
      response.on("end", () => resolve(body));
      response.on("error", reject);
    }).on("error", reject);
  });

/**
 * Resolves with the number of requests whose response was right, and the message of an error if there was one. After
 * each response computes `work` units.
 */
export async function askServer(origin, task, work) {
  let right = 0;
  let error;
  for (let request = 0; request < REQUESTS; request++) {
    const path = `/${task}/${request}`;
    try {
      const body = await bodyOf(origin + path);
      if (body === path) right++;
      else error ??= `the response to ${path} was ${body.slice(0, 100)}`;
    } catch (thrown) {
      error ??= String(thrown);
    }
    if (work > 0) compute(work);
  }
  return { right, error };
}

const STEPS_PER_UNIT = 1000;

/** Many short calls, so that engines compile the function as usual and not in the middle of one long loop. */
function computeUnit(state) {
  let next = state;
  for (let step = 0; step < STEPS_PER_UNIT; step++) {
    next = (Math.imul(next, 1_664_525) + 1_013_904_223) | 0;
  }
  return next;
}

let lastState = 1;

/** Integer work that depends on every step before. */
export function compute(units) {
  for (let unit = 0; unit < units; unit++) lastState = computeUnit(lastState);
}
