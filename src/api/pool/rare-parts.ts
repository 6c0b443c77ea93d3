/** What most pools never use, in one file of the package. */
import { createSyncProxy } from "../calls/sync-proxy.ts";
import { Profiling } from "../observe/profile.ts";
import { createOpenScope } from "../scopes/scope.ts";
import { createBlocking } from "./blocking.ts";
import { createBroadcasts, createLateRuns } from "./rare-features.ts";
import { createRequests } from "./host-requests.ts";
import { createInlineExecutor } from "./inlining.ts";
import { readStatistics } from "./pool-statistics.ts";

export interface RareParts {
  readonly createBlocking: typeof createBlocking;
  readonly createBroadcasts: typeof createBroadcasts;
  readonly createInlineExecutor: typeof createInlineExecutor;
  readonly createLateRuns: typeof createLateRuns;
  readonly createOpenScope: typeof createOpenScope;
  readonly createRequests: typeof createRequests;
  readonly createSyncProxy: typeof createSyncProxy;
  readonly Profiling: typeof Profiling;
  readonly readStatistics: typeof readStatistics;
}

export const parts: RareParts = {
  createBlocking,
  createBroadcasts,
  createInlineExecutor,
  createLateRuns,
  createOpenScope,
  createRequests,
  createSyncProxy,
  Profiling,
  readStatistics,
};
