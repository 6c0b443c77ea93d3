/** All scenarios, in the order in which they run. */
import { CALLS } from "../catalogue/calls.ts";
import { PROGRAMS } from "../catalogue/programs.ts";
import { WAITING } from "../catalogue/waiting.ts";
import type { Scenarios } from "./scenario.ts";

export const SCENARIOS: Scenarios = { ...CALLS, ...WAITING, ...PROGRAMS };
