/** URLs of modules from what users give. */
import { expect, test } from "vitest";
import { moduleUrlOf } from "../../../../src/api/options/module-url.ts";

const finder = { toModuleUrl: (location: string) => new URL(location, "file:///home/me/").href };

test("names are relative to the calling module, also to code without a file", () => {
  expect(moduleUrlOf("./tasks.js", "/home/me/src/main.js", finder)).toBe(
    "file:///home/me/src/tasks.js",
  );
  expect(moduleUrlOf("./tasks.js", "[eval]", finder)).toBe("file:///home/me/tasks.js");
});

test.each(["data:text/javascript,1", "node:internal/vm", "blob:nodedata:1234"])(
  "a name is refused with a code where the calling module is %s",
  (base) => {
    expect(() => moduleUrlOf("./tasks.js", base, finder)).toThrow(
      expect.objectContaining({
        code: "HEDDLE_INVALID_ARGUMENT",
        message: expect.stringContaining(`"./tasks.js"`) as string,
      }) as Error,
    );
  },
);
