/**
 * The library loaded over HTTP, as from JSR: a runtime that can import remote modules must be able to
 * start workers from there too.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { capabilities, runFile } from "../../support/runtime.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

test.runIf(capabilities.remoteModules)(
  "a pool works if the library is served over HTTP",
  async () => {
    const server = createServer((request, response) => {
      const path = request.url ?? "";
      if (!/^\/src\/[\w/-]+\.ts$/.test(path)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { "content-type": "application/typescript" });
      response.end(readFileSync(join(root, path)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), "heddle-remote-"));
    try {
      const script = join(folder, "main.ts");
      writeFileSync(
        script,
        `import { createPool, isMain } from "http://127.0.0.1:${port}/src/mod.ts";
       import { f64, struct, task } from "http://127.0.0.1:${port}/src/mod-task.ts";
       const Point = struct({ x: f64, y: f64 });
       export const mirror = task({ args: [Point], f: ({ x, y }) => [y, x] });
       export const add = (a: number, b: number) => a + b;
       if (isMain) {
         const pool = createPool({ threads: 2 })({ add, mirror });
         console.log(await pool.call.add(20, 22), ...await pool.call.mirror({ x: 1, y: 2 }));
         await pool.shutdown();
       }`,
      );
      const { code, output } = await runFile(script);
      expect({ code, output }).toEqual({ code: 0, output: "42 2 1\n" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await new Promise((resolve) => server.close(resolve));
    }
  },
);
