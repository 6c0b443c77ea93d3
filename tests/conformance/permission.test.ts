/** The option `permission`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { InvalidArgumentError } from "../../src/mod.ts";
import { createSupervisedPool } from "../fixtures/supervision-tasks.ts";
import { closedAfterTest } from "../support/conformance.ts";
import { capabilities, runtimeName } from "../support/runtime.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function supervisedPool(
  options: Parameters<typeof createSupervisedPool>[0] = {},
): ReturnType<typeof createSupervisedPool> {
  return closedAfterTest(createSupervisedPool(options));
}

describe("permission", () => {
  function folder(): string {
    const path = temporaryFolder();
    writeFileSync(join(path, "file"), "");
    return path;
  }

  test('"off" is accepted on every runtime and denies nothing', async () => {
    const path = join(folder(), "file");
    const pool = supervisedPool({ permission: "off" });
    expect(await pool.call.attempt("read", path)).toBe("ok");
    expect(await pool.call.attempt("run")).toBe("ok");
  });

  const net = !capabilities.deniesNet;
  /** What has to be allowed by name where it cannot be denied. */
  const least = { net, read: capabilities.deniesFolder ? [] : [process.cwd()] };

  test.runIf(capabilities.permissions)("access that is not listed is denied", async () => {
    const path = folder();
    const pool = supervisedPool({ permission: least });
    expect(await pool.call.echo("loads and runs")).toBe("loads and runs");
    for (const what of ["read", "write"]) {
      expect(await pool.call.attempt(what, join(path, "file"))).toBe("ERR_ACCESS_DENIED");
    }
    if (capabilities.deniesFolder) {
      expect(await pool.call.attempt("read", "README.md")).toBe("ERR_ACCESS_DENIED");
    }
    expect(await pool.call.attempt("run")).toBe("ERR_ACCESS_DENIED");
    expect(await pool.call.attempt("env", "PATH")).toBe("unset");
    expect(await pool.call.attempt("net")).toBe(net ? "ECONNREFUSED" : "ERR_ACCESS_DENIED");
  });

  test.runIf(capabilities.permissions)(
    "only listed access is allowed",
    async () => {
      const [one, other] = [folder(), folder()];
      const pool = supervisedPool({
        permission: {
          read: [...least.read, pathToFileURL(one).href],
          write: [join(one, "file")],
          env: ["PATH", "NOT_SET", "NODE_OPTIONS"],
          net: true,
        },
      });
      expect(await pool.call.attempt("read", join(one, "file"))).toBe("ok");
      expect(await pool.call.attempt("write", join(one, "file"))).toBe("ok");
      expect(await pool.call.attempt("write", join(one, "file2"))).toBe("ERR_ACCESS_DENIED");
      expect(await pool.call.attempt("read", join(other, "file"))).toBe("ERR_ACCESS_DENIED");
      expect(await pool.call.attempt("env", "PATH")).toBe(process.env["PATH"]);
      for (const name of ["HOME", "NOT_SET", "NODE_OPTIONS"]) {
        expect(await pool.call.attempt("env", name)).toBe("unset");
      }
      expect(await pool.call.attempt("net")).toBe("ECONNREFUSED");
    },
  );

  test("permissions that cannot be enforced are refused with the supported ones", () => {
    const create = () => createSupervisedPool({ permission: { read: true, env: true } });
    if (runtimeName === "node" && !capabilities.deniesFolder) {
      expect(() => createSupervisedPool({ permission: { net: true } }))
        .toThrow(/cannot deny `read` of the current folder/);
    }
    if (runtimeName === "node" && capabilities.deniesNet) {
      expect(() => closedAfterTest(create())).not.toThrow();
      return;
    }
    expect(create).toThrow(InvalidArgumentError);
    expect(create).toThrow(
      {
        node: /Node .* cannot deny `net` .*Node can deny to threads/,
        deno: /Deno cannot deny its threads `net`, which this process may/,
        bun: /Bun cannot deny its threads anything/,
      }[runtimeName],
    );
  });
});
