import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyWithout, featureNames, withDependents } from "./without.ts";

test("a feature goes with what needs it", () => {
  for (const name of featureNames) expect(withDependents([name])).toContain(name);
  expect(withDependents(featureNames).toSorted()).toEqual(featureNames.toSorted());
});

test("a copy has neither the folders of what is gone nor their lines", () => {
  const [name = ""] = featureNames;
  const gone = withDependents([name]);
  const folder = copyWithout([name]);
  const list = readFileSync(join(folder, "src/features/host.ts"), "utf8");
  for (const feature of featureNames) {
    const isGone = gone.includes(feature);
    expect([feature, list.includes(`/${feature === "values" ? "rare" : feature}/host.ts"`)])
      .toEqual([feature, !isGone]);
    if (isGone) expect(list).not.toMatch(new RegExp(`^  ${feature},$`, "m"));
  }
  expect(readFileSync(join(folder, "src/mod.ts"), "utf8")).toContain("createPool");
  rmSync(folder, { recursive: true });
});
