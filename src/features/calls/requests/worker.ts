/** What tasks ask of the host. */
import { CALLBACK_KIND } from "./callback-value.ts";
import type { AnswerMessage } from "./messages.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import { Callback } from "./worker/callback.ts";
import { hostRequests } from "./worker/host-requests.ts";
import { LISTENER_KIND, OBJECT_KIND } from "./references.ts";
import { references } from "./worker/references.ts";
import { taskRequests } from "./worker/task-requests.ts";

export const requests: WorkerFeature = {
  name: "requests",

  messages: {
    answer: (message: AnswerMessage, core) => core.partIfMade(hostRequests)?.onAnswer(message),
  },

  held: {
    [CALLBACK_KIND]: (index, core) => new Callback(index, core),
    [LISTENER_KIND]: (number, core) => core.part(references).listener(number),
    [OBJECT_KIND]: (number, core) => core.part(references).object(number),
  },
  requests: taskRequests,
};
