/** Contenders by name, and how those that share a process are called. */
import { KNITTING } from "../contenders/names.ts";
import { NAMES_END } from "../harness/child.ts";
import type { Choices, Contender } from "./scenario.ts";

export const byName = (name: string): Contender => ({ name, args: ["--contender", name] });

/** Scenarios whose process measures one contender, named on its command line. */
export const named = (...names: readonly string[]) => (): readonly Contender[] => names.map(byName);

/** The variants of a contender have processes of their own. */
export const withVariant = (of: Contender, variant: string): Contender => ({
  ...of,
  name: `${of.name}, ${variant}`,
  variantOf: of.name,
  args: [...of.args, "--variant", variant],
});

export const knitting = ({ hasKnitting }: Choices): Contender => ({
  ...byName(KNITTING),
  isPeer: true,
  ...(hasKnitting
    ? {}
    : { left: "not measured: it is not in the registry; --peer knitting=PATH takes a checkout" }),
});

/** The same with a checkout of Knitting, second so that it is next to ours. */
export const namedAndKnitting =
  (first: string, ...others: readonly string[]) => (choices: Choices): readonly Contender[] => [
    byName(first),
    knitting(choices),
    ...others.map(byName),
  ];

export const BARE_WORKER = "bare worker";

/** Why pools of others are left out, by runtime. */
const UNRELIABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deno: { Tinypool: "Tinypool 2.2.0 does not always answer on Deno" },
};

/** Everyone with one worker, in plain JavaScript. */
export const oneWorker = (choices: Choices, runtime: string): readonly Contender[] => [
  byName("heddle"),
  byName(BARE_WORKER),
  ...["Piscina", "Tinypool"].map((name): Contender => {
    const left = UNRELIABLE[runtime]?.[name];
    return { ...byName(name), isPeer: true, ...(left === undefined ? {} : { left }) };
  }),
  knitting(choices),
];

/**
 * Those that are there take turns in one process. Knitting has one of its own: its threads use a core for some milliseconds after their
 * last call, and some of it always, which would be at the cost of the next in turn.
 */
export function inTurn(
  contenders: readonly Contender[],
  name = "all in turn",
  args: readonly string[] = [],
): readonly Contender[] {
  const running = contenders.filter(({ left }) => left === undefined);
  const sharing = running.filter((each) => each.name !== KNITTING);
  const names = sharing.map((each) => each.name);
  return [
    {
      name,
      variantOf: names.join(", "),
      args: ["--contender", names.join(NAMES_END), ...args],
      peers: sharing.filter(({ isPeer }) => isPeer === true).map((each) => each.name),
    },
    ...running.filter((each) => each.name === KNITTING)
      .map((each) => ({ ...each, name: `${each.name}, ${name}`, args: [...each.args, ...args] })),
    ...contenders.filter(({ left }) => left !== undefined),
  ];
}
