/** By name: for the threads that perform them. */
import { type Scenario, scenarios } from "./scenarios.ts";
import { sharedScenarios } from "./shared-scenarios.ts";

export const allScenarios: Readonly<Record<string, Scenario>> = {
  ...scenarios,
  ...sharedScenarios,
};
