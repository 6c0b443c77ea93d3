/** CPU profiles of workers. */
import type { CpuProfile, ProfileOptions, Profiling } from "./host/profile.ts";
import type { HostFeature } from "../../../api/pool/feature.ts";
import type { PoolAccess } from "../../../api/pool/members.ts";
import { withStackAbove } from "../../../realm/caller-stack.ts";

type Profile = (workerId: number, options?: ProfileOptions) => Promise<CpuProfile>;

function createProfile({ core, pool }: PoolAccess): Profile {
  let loaded: Promise<Profiling> | undefined;
  const load = async (): Promise<Profiling> => {
    const { Profiling } = await import("./host/profile.ts");
    return new Profiling({
      threads: () => core.supervisor.threads,
      isClosing: () => core.isClosing,
      events: pool,
    });
  };
  return async function profile(workerId, options = {}) {
    try {
      const profiling = await (loaded ??= load());
      return await profiling.profile(workerId, options);
    } catch (error) {
      throw withStackAbove(error, profile);
    }
  };
}

export const profile: HostFeature = {
  name: "profile",

  members: { profile: (access) => access.keep("profile", () => createProfile(access)) },
};
