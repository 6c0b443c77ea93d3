/**
 * Memory that this process may use, and what of it is free. Where a control group of Linux limits it (a container), Deno and Bun
 * tell the free memory of the machine, and Node takes the file cache for used, which the kernel gives back on demand. So the figures of
 * the group are read there.
 */
import { process } from "./process/process.ts";
import type { SystemMemory } from "../runtime.ts";

/** Text of a file; undefined: it is not there, or may not be read. */
export type ReadFile = (path: string) => string | undefined;

/** Versions of control groups, a system may have both: the group in `/proc/self/cgroup`, where groups are, and what one uses. */
const VERSIONS = [
  {
    group: /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/m,
    root: "/sys/fs/cgroup/memory",
    used: "memory.usage_in_bytes",
    cache: /^total_inactive_file (\d+)$/m,
  },
  {
    group: /^0::(.*)$/m,
    root: "/sys/fs/cgroup",
    used: "memory.current",
    cache: /^inactive_file (\d+)$/m,
  },
] as const;

/** Bytes that the control group of this process uses, without the file cache. Undefined: it cannot be read. */
export function usedByGroup(read: ReadFile): number | undefined {
  const groups = read("/proc/self/cgroup") ?? "";
  for (const { group, root, used, cache } of VERSIONS) {
    // A container sees its own group as the root, whatever its path is outside.
    for (const folder of [`${root}${group.exec(groups)?.[1] ?? ""}`, root]) {
      const usedBytes = Number(read(`${folder}/${used}`) ?? 0);
      if (!(usedBytes > 0)) continue;
      return usedBytes - Number(cache.exec(read(`${folder}/memory.stat`) ?? "")?.[1] ?? 0);
    }
  }
  return undefined;
}

/** Throws on Deno without the right to ask. */
export function systemMemory(read: ReadFile): SystemMemory {
  const { totalmem, freemem } = process.getBuiltinModule("node:os");
  const machineBytes = totalmem();
  const limitBytes = process.constrainedMemory(); // 0, or more than there is: no limit
  if (!(limitBytes > 0 && limitBytes < machineBytes)) {
    return { totalBytes: machineBytes, freeBytes: process.availableMemory() };
  }
  // Deno lets only programs with all rights read the group's files. Mostly the process is alone in its container.
  const usedBytes = usedByGroup(read) ?? process.memoryUsage.rss();
  const freeBytes = Math.max(0, Math.min(freemem(), limitBytes - usedBytes));
  return { totalBytes: limitBytes, freeBytes };
}
