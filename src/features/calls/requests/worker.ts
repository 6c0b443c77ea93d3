/** What tasks ask of the host. */
import { CALLBACK_KIND } from "./callback-value.ts";
import type { AnswerMessage } from "./messages.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import { Callback } from "./worker/callback.ts";
import { hostRequests } from "./worker/host-requests.ts";
import { taskRequests } from "./worker/task-requests.ts";

export const requests: WorkerFeature = {
  name: "requests",

  messages: {
    answer: (message: AnswerMessage, core) => core.partIfMade(hostRequests)?.onAnswer(message),
  },

  held: { [CALLBACK_KIND]: (index, core) => new Callback(index, core) },
  requests: taskRequests,
};
