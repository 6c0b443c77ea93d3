/** Every kind of payload that the `types` and `codec` scenarios send, in the order of their tables. */
import { byteArray, nodeBuffer } from "./bytes.ts";
import {
  cyclicGraph,
  dates,
  dictionary,
  errorWithCause,
  numberMap,
  numbers,
  particle,
  points,
  records,
  user,
  words,
} from "./objects.ts";
import { MANY_VARIANTS, type PayloadKind } from "./payload.ts";
import { STRUCT_KIND } from "./struct-kind.ts";
import { asciiText, cyrillicText } from "./text.ts";

type Create = PayloadKind["create"];

const kind = (
  name: string,
  family: PayloadKind["family"],
  create: Create,
  fitsJson = false,
): PayloadKind => ({ name, family, route: "copy", fitsJson, create });

const scalar = (name: string, create: Create, fitsJson: boolean): PayloadKind =>
  kind(name, "scalar", create, fitsJson);
const text = (name: string, create: Create): PayloadKind => kind(name, "text", create, true);
/** Plain objects and arrays: what JSON can hold too. */
const plain = (name: string, create: Create): PayloadKind => kind(name, "object", create, true);
const object = (name: string, create: Create): PayloadKind => kind(name, "object", create);
const bytes = (name: string, create: Create): PayloadKind => kind(name, "bytes", create);

const KIB = 1024;
const MIB = 1024 * KIB;

export const KINDS: readonly PayloadKind[] = [
  scalar("number", (variant) => variant + 0.5, true),
  scalar("undefined", () => undefined, false),
  scalar("boolean", (variant) => variant % 2 === 0, true),
  scalar("bigint", (variant) => 2n ** 62n + BigInt(variant), false),
  { ...text("string, 16 ASCII", (variant) => asciiText(16, variant)), variants: MANY_VARIANTS },
  text("string, 1,024 ASCII", (variant) => asciiText(KIB, variant)),
  text("string, 512 Cyrillic", (variant) => cyrillicText(512, variant)),
  text("string, 64 KiB ASCII", (variant) => asciiText(64 * KIB, variant)),
  { ...plain("object, 200 B", user), variants: MANY_VARIANTS },
  plain("object, 8 numbers", particle),
  plain("array, 50 records", (variant) => records(50, variant)),
  plain("array, 1,000 numbers", (variant) => numbers(1000, variant)),
  plain("array, 1,000 strings", (variant) => words(1000, variant)),
  plain("array, 1,000 points", (variant) => points(1000, variant)),
  object("array, 1,000 Dates", (variant) => dates(1000, variant)),
  plain("object, 1,000 keys", (variant) => dictionary(1000, variant)),
  object("Map, 1,000 entries", (variant) => numberMap(1000, variant)),
  object("Set, 1,000 entries", (variant) => new Set(numbers(1000, variant))),
  object("Date", (variant) => new Date(Date.UTC(2026, 0, 1) + variant)),
  object("RegExp", (variant) => new RegExp(`^(\\d{${variant}})-\\w+$`, "giu")),
  object("cyclic graph, 20 nodes", (variant) => cyclicGraph(20, variant)),
  object("Error with cause", errorWithCause),
  bytes("Uint8Array, 1 KiB", (variant) => byteArray(KIB, variant)),
  bytes("Uint8Array, 16 KiB", (variant) => byteArray(16 * KIB, variant)),
  bytes("Uint8Array, 1 MiB", (variant) => byteArray(MIB, variant)),
  bytes("Float64Array, 128", (variant) => new Float64Array(numbers(128, variant))),
  bytes("Buffer, 1 KiB", (variant) => nodeBuffer(KIB, variant)),
  bytes("ArrayBuffer, 1 KiB", (variant) => byteArray(KIB, variant).buffer),
  {
    name: "transfer, 1 MiB",
    family: "bytes",
    route: "move",
    fitsJson: false,
    create: (variant) => byteArray(MIB, variant).buffer,
  },
  STRUCT_KIND,
];
