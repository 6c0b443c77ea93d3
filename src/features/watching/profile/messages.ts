/** The messages of a CPU profile. */

/** Host to worker: take a CPU profile of this duration and post it to `port`. */
export interface ProfileMessage {
  readonly heddle: "profile";
  readonly durationMs: number;
  readonly port: MessagePort;
}

/** What the worker posts to that port: the profile as JSON, or why there is none. */
export type ProfileResponse = { readonly profile: string } | { readonly reason: string };
