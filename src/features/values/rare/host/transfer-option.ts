/** The option `transfer` of calls: objects in their arguments that move. */
import { movedObjects, transfer } from "../kinds/wrappers.ts";
import { describeValue } from "../../../../codec/support/describe.ts";
import { InvalidArgumentError } from "../../../../errors.ts";
import { invalid } from "../../../../option-checks.ts";
import { dropArguments } from "../../../../host/calls/feature.ts";
import { isStreamable } from "../../../../protocol/is-streamable.ts";
import type { CallOption, ChangeArguments } from "../../../../api/options/feature.ts";

export const transferOption: CallOption = {
  only: "with",
  check: (value, to) => {
    if (!Array.isArray(value)) {
      throw invalid("transfer", "an array of objects to move", describeValue(value));
    }
    const moved = movedObjects(value, "with({ transfer })");
    if (moved.length > 0) to.transfer = moved;
  },
  merge: (earlier: readonly unknown[], later: readonly unknown[] = []) => [...earlier, ...later],
  changeArguments,
};

/** One wrapper moves objects of all arguments. It cannot be around a declared value, a promise or a stream that is sent item by item. */
function changeArguments(
  ...[args, { transfer: list = [] }, declared, isPromise]: Parameters<ChangeArguments>
): ReturnType<ChangeArguments> {
  const free = args.findIndex((arg, index) =>
    declared?.[index] === undefined && !isPromise(arg) &&
    (!isStreamable(arg) || list.includes(arg))
  );
  if (free >= 0) return args.with(free, transfer(args[free], list));
  dropArguments(args);
  return new InvalidArgumentError(
    "with({ transfer }) needs an argument that is neither a promise, a stream nor a declared struct; " +
      "wrap the value of a promise in transfer().",
  );
}
