import { dirname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { confine, refusePermission } from "../../../src/runtimes/node/permission.ts";
import { runtimeName } from "../../support/runtime.ts";

test.runIf(runtimeName === "node")(
  "a folder is allowed before its contents, because Node otherwise denies it and the working directory",
  () => {
    const folder = join(process.cwd(), "app");
    const dist = join(folder, "node_modules", "heddle", "dist");
    const library = pathToFileURL(`${dist}/`).href;
    const files = [pathToFileURL(join(folder, "tasks.js")).href];
    const permission = {
      read: [join(folder, "data", "deep"), dirname(folder)],
      write: false,
      net: true,
      run: false,
      env: false,
      workers: false,
      ffi: false,
      wasi: false,
    };
    const flag = "--allow-fs-read=";
    const read = confine(permission, library, files).execArgv!
      .filter((argument) => argument.startsWith(flag))
      .map((argument) => argument.slice(flag.length));
    expect(read).toContain(folder);
    expect(read).toContain(dist);
    for (const [index, path] of read.entries()) {
      const before = read.slice(0, index);
      expect(before.filter((other) => other.startsWith(`${path}/`))).toEqual([]);
    }
  },
);

test.runIf(runtimeName === "node")(
  "a path with a * is refused, because Node treats it as a wildcard",
  () => {
    const nothing = { net: true, run: true, env: true, workers: true, ffi: true, wasi: true };
    const refused = (read: string[]) => refusePermission({ ...nothing, read, write: false });
    expect(refused(["a*b"])).toContainEqual(expect.stringMatching(/a\*b for anything/));
    expect(refused(["ab", "."])).toEqual([]);
  },
);
