/** A contender less the kinds that it gets wrong on one runtime. */
import type { PayloadKind } from "../payloads/payload.ts";

interface Refusing {
  refuses(kind: PayloadKind): string | undefined;
}

/** Adds reasons by name of the kind. */
export function lacking<C extends Refusing>(
  contender: C,
  reasons: Readonly<Record<string, string>>,
): C {
  return {
    ...contender,
    refuses: (kind: PayloadKind) => reasons[kind.name] ?? contender.refuses(kind),
  };
}
