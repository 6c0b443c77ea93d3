/** What tasks ask of the host. */
import { CALLBACK_KIND } from "../../codec/support/callback.ts";
import type { AnswerMessage } from "../../protocol/host-requests.ts";
import type { WorkerFeature } from "../../worker/feature.ts";
import { Callback } from "../../worker/requests/callback.ts";
import { hostRequests } from "../../worker/requests/host-requests.ts";
import { taskRequests } from "../../worker/requests/task-requests.ts";

export const requests: WorkerFeature = {
  name: "requests",

  messages: {
    answer: (message: AnswerMessage, core) => core.partIfMade(hostRequests)?.onAnswer(message),
  },

  held: { [CALLBACK_KIND]: (index, core) => new Callback(index, core) },
  requests: taskRequests,
};
