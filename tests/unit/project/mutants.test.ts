/** Each fault of `npm run test:mutants` can be put into the sources: a change moves the faults of the lines that it moves. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { rooms } from "../../mutants/list.ts";

const src = fileURLToPath(new URL("../../../src/", import.meta.url));

test("each fault has its place once", () => {
  const mutants = Object.values(rooms).flatMap((room) => room.mutants);
  expect(mutants.length).toBeGreaterThan(80);
  const found = mutants.map(({ file, from, fault }) => {
    const text = readFileSync(src + file, "utf8");
    return [file, fault, text.split(from).length - 1] as const;
  });
  expect(found.filter(([, , times]) => times !== 1)).toEqual([]);
});

test("each room has tests", () => {
  const paths = Object.values(rooms).flatMap(({ tests }) => tests);
  const missing = paths.filter((path) =>
    !existsSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)))
  );
  expect(missing).toEqual([]);
});
