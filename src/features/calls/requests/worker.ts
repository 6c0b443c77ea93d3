/** What tasks ask of the host. */
import { CALLBACK_KIND } from "./callback-value.ts";
import type { AnswerMessage } from "./messages.ts";
import type { WorkerFeature } from "../../../worker/feature.ts";
import * as deferred from "./worker/deferred.ts";
import { LISTENER_KIND, OBJECT_KIND } from "./references.ts";

export const requests: WorkerFeature = {
  name: "requests",

  messages: {
    answer: (message: AnswerMessage, core) =>
      core.partIfMade(deferred.hostRequests)?.onAnswer(message),
  },

  held: {
    [CALLBACK_KIND]: (index, core) => new deferred.Callback(index, core),
    [LISTENER_KIND]: (number, core) => core.part(deferred.references).listener(number),
    [OBJECT_KIND]: (number, core) => core.part(deferred.references).object(number),
  },
  requests: (core) => deferred.taskRequests(core),
};
