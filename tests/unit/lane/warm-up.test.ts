/** What a thread sends to itself at its start. */
import { expect, test, vi } from "vitest";
import { Endpoint } from "../../../src/lane/endpoint.ts";
import { warmUp } from "../../../src/lane/warm-up.ts";
import { currentRuntime } from "../../../src/runtimes/current.ts";

test("objects arrive by their key list, once per thread", () => {
  const read = vi.spyOn(Endpoint.prototype, "readValues");
  const keyLists = vi.spyOn(Endpoint.prototype, "receiveKeyLists");
  warmUp(currentRuntime);
  const item = (id: number) => ({ id, name: "text", list: ["a", 0.5], of: { isIt: true } });
  const [first, lists, ...others] = read.mock.results.map(({ value }) => value as unknown);
  expect(lists).toEqual(["0\rid\nname\nlist\nof\risIt"]);
  expect([first, ...others]).toEqual([item(1), item(2), item(3)].map((value) => [value]));
  expect(keyLists).toHaveBeenCalledOnce();
  warmUp(currentRuntime);
  expect(read).toHaveBeenCalledTimes(4);
});
