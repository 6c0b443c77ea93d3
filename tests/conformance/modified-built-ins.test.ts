/** Programs that change built-in prototypes. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runFile, runScript, runtimeName } from "../support/runtime.ts";

describe("modified built-ins", () => {
  test("a pool works if Object.prototype has an enumerable property", async () => {
    const { code, output } = await runScript("proto-enumerable.ts");
    expect({ code, output }).toEqual({ code: 0, output: '4 {"a":1}\n' });
  });

  test.runIf(runtimeName === "node")("a pool works with frozen intrinsics", async () => {
    const file = fileURLToPath(new URL("../fixtures/scripts/frozen.ts", import.meta.url));
    const { code, output } = await runFile(file, ["--no-warnings", "--frozen-intrinsics"]);
    expect({ code, output }).toEqual({ code: 0, output: "4 { a: 1 } TypeError\n" });
  });
});
