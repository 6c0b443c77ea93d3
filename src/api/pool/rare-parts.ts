/** What most pools never use, in one file of the package. */
import { createSyncProxy } from "../calls/sync-proxy.ts";
import { Profiling } from "../observe/profile.ts";
import { createOpenScope } from "../scopes/scope.ts";
import { readStatistics } from "./pool-statistics.ts";

export interface RareParts {
  readonly createOpenScope: typeof createOpenScope;
  readonly createSyncProxy: typeof createSyncProxy;
  readonly Profiling: typeof Profiling;
  readonly readStatistics: typeof readStatistics;
}

export const parts: RareParts = { createOpenScope, createSyncProxy, Profiling, readStatistics };
