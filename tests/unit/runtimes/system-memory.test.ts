/** The memory of the system, and that of control groups, from the files that Linux has. */
import { describe, expect, test } from "vitest";
import { systemMemory, usedByGroup } from "../../../src/runtimes/node-api/system-memory.ts";
import type { SystemMemory } from "../../../src/runtimes/runtime.ts";
import { hostRuntime } from "../../../src/runtimes/host.ts";

const MIB = 2 ** 20;

/** A file system of these files. */
const reader = (files: Readonly<Record<string, string>>) => (path: string): string | undefined =>
  files[path];

test("the system has memory, and some of it is free", () => {
  const { totalBytes, freeBytes } = hostRuntime.systemMemory() as SystemMemory;
  expect(totalBytes).toBeGreaterThan(64 * MIB);
  expect(freeBytes).toBeGreaterThan(0);
  expect(freeBytes).toBeLessThanOrEqual(totalBytes);
  expect(systemMemory(() => undefined).totalBytes).toBe(totalBytes);
});

describe("what a control group uses is without the file cache", () => {
  const stat = `anon 1\ninactive_file ${40 * MIB}\nactive_file 7\n`;
  const statV1 = `inactive_file 3\ntotal_inactive_file ${40 * MIB}\ntotal_active_file 7\n`;

  test.each([
    ["version 2", {
      "/proc/self/cgroup": "0::/user.slice/app\n",
      "/sys/fs/cgroup/memory.current": `${900 * MIB}\n`,
      "/sys/fs/cgroup/user.slice/app/memory.current": `${100 * MIB}\n`,
      "/sys/fs/cgroup/user.slice/app/memory.stat": stat,
    }],
    ["version 2, in a container", {
      "/proc/self/cgroup": "0::/\n",
      "/sys/fs/cgroup/memory.current": `${100 * MIB}\n`,
      "/sys/fs/cgroup/memory.stat": stat,
    }],
    ["version 2, in a container whose path is that outside", {
      "/proc/self/cgroup": "0::/kubepods/pod1\n",
      "/sys/fs/cgroup/memory.current": `${100 * MIB}\n`,
      "/sys/fs/cgroup/memory.stat": stat,
    }],
    ["version 1", {
      "/proc/self/cgroup": "9:cpu,memory:/docker/1\n8:cpuset:/other\n0::/\n",
      "/sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes": `${100 * MIB}\n`,
      "/sys/fs/cgroup/memory/docker/1/memory.stat": statV1,
    }],
    ["version 1, in a container", {
      "/proc/self/cgroup": "4:memory:/docker/1\n",
      "/sys/fs/cgroup/memory/memory.usage_in_bytes": `${100 * MIB}\n`,
      "/sys/fs/cgroup/memory/memory.stat": statV1,
    }],
  ])("%s", (_name, files) => {
    expect(usedByGroup(reader(files as unknown as Record<string, string>))).toBe(60 * MIB);
  });

  test("all of it, if nothing tells the cache", () => {
    const files = { "/sys/fs/cgroup/memory.current": `${100 * MIB}\n` };
    expect(usedByGroup(reader(files))).toBe(100 * MIB);
  });

  test("unknown without the files", () => {
    expect(usedByGroup(() => undefined)).toBe(undefined);
    expect(usedByGroup(reader({ "/proc/self/cgroup": "0::/\n" }))).toBe(undefined);
  });
});
