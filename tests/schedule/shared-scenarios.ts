/** What the explorer runs of `src/shared`: the real objects, in real threads; `broken: …` leaves one operation out. */
import type { Scenario } from "./scenarios.ts";
import { channelScenarios } from "./shared-channel-scenarios.ts";
import { enterScenarios } from "./shared-enter-scenarios.ts";
import { largeScenarios } from "./shared-large-scenarios.ts";
import { lockScenarios } from "./shared-lock-scenarios.ts";
import { waitScenarios } from "./shared-wait-scenarios.ts";

export const sharedScenarios: Readonly<Record<string, Scenario>> = {
  ...enterScenarios,
  ...waitScenarios,
  ...lockScenarios,
  ...channelScenarios,
  ...largeScenarios,
};
