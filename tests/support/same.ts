/**
 * Deep comparison of two object graphs, for tests of what arrives against what `structuredClone`
 * makes. Tells apart everything a program can tell apart: kinds by internal slot, prototypes, order
 * and attributes of properties, holes, -0, NaN, and identities: two places hold one object in one
 * graph if and only if they do in the other.
 *
 * Not recursive, so depth is no limit.
 */
import { types } from "node:util";

/** A place in the graph: rendered only when there is something to say about it. */
interface Place {
  readonly parent: Place | undefined;
  readonly step: string;
}

interface Pair {
  readonly actual: unknown;
  readonly expected: unknown;
  readonly place: Place;
}

/** Further differences are rarely worth reading. */
const MAX_DIFFERENCES = 20;
/** Steps shown at either end of a long path. */
const SHOWN_STEPS = 20;
/** Own keys of longer views are not looked at: there is one for each element. */
const MAX_LISTED_ELEMENTS = 256;

/**
 * What differs between the two graphs, as readable lines; empty when nothing does.
 *
 * Both graphs should be copies: resizable buffers are resized to find out which views track their
 * length, and then restored.
 */
export function differences(actual: unknown, expected: unknown): string[] {
  return new Comparison().run(actual, expected);
}

class Comparison {
  readonly #found: string[] = [];
  readonly #pending: Pair[] = [];
  readonly #expectedOf = new Map<object, object>();
  readonly #actualOf = new Map<object, object>();

  run(actual: unknown, expected: unknown): string[] {
    this.#pending.push({ actual, expected, place: { parent: undefined, step: "value" } });
    for (;;) {
      const pair = this.#pending.pop();
      if (pair === undefined || this.#found.length >= MAX_DIFFERENCES) return this.#found;
      this.#compare(pair);
    }
  }

  #compare({ actual, expected, place }: Pair): void {
    if (!isObject(actual) || !isObject(expected)) {
      if (!Object.is(actual, expected)) this.#report(place, actual, expected);
      return;
    }
    if (this.#meetAgain(actual, expected, place)) return;
    const kind = kindOf(expected);
    if (kindOf(actual) !== kind) {
      this.#report(place, kindOf(actual), kind, "kind");
      return;
    }
    this.#comparePrototypes(actual, expected, place);
    this.#compareSlots(kind, actual, expected, place);
    this.#compareProperties(actual, expected, place);
  }

  /** Whether one of the two was met before; they must have met each other then. */
  #meetAgain(actual: object, expected: object, place: Place): boolean {
    const knownExpected = this.#expectedOf.get(actual);
    const knownActual = this.#actualOf.get(expected);
    if (knownExpected === undefined && knownActual === undefined) {
      this.#expectedOf.set(actual, expected);
      this.#actualOf.set(expected, actual);
      return false;
    }
    if (knownExpected !== expected) {
      const [one, other] = knownActual === undefined
        ? ["an object met before", "a new object"]
        : knownExpected === undefined
        ? ["a new object", "an object met before"]
        : ["another object met before", "an object met before"];
      this.#report(place, one, other, "identity");
    }
    return true;
  }

  #comparePrototypes(actual: object, expected: object, place: Place): void {
    const one: unknown = Object.getPrototypeOf(actual);
    const other: unknown = Object.getPrototypeOf(expected);
    if (one !== other) this.#report(place, nameOfPrototype(one), nameOfPrototype(other), "class");
    const extensible = Object.isExtensible(expected);
    this.#same(place, "extensible", Object.isExtensible(actual), extensible);
  }

  /** What the object holds besides properties. */
  #compareSlots(kind: string, actual: object, expected: object, place: Place): void {
    switch (kind) {
      case "Array":
        this.#same(place, "length", (actual as unknown[]).length, (expected as unknown[]).length);
        break;
      case "Map":
        this.#compareMaps(actual as AnyMap, expected as AnyMap, place);
        break;
      case "Set":
        this.#compareLists([...actual as Set<unknown>], [...expected as Set<unknown>], place, "");
        break;
      case "Date":
        this.#same(place, "time", (actual as Date).getTime(), (expected as Date).getTime());
        break;
      case "RegExp":
        this.#same(place, "source", (actual as RegExp).source, (expected as RegExp).source);
        this.#same(place, "flags", (actual as RegExp).flags, (expected as RegExp).flags);
        break;
      case "Number":
      case "String":
      case "Boolean":
      case "BigInt":
        this.#same(place, "primitive", primitiveIn(actual), primitiveIn(expected));
        break;
      case "ArrayBuffer":
      case "SharedArrayBuffer":
        this.#compareBuffers(actual as ArrayBuffer, expected as ArrayBuffer, place);
        break;
      default:
        if (ArrayBuffer.isView(expected)) {
          this.#compareViews(actual as ArrayBufferView, expected, place);
        }
    }
  }

  #compareMaps(actual: AnyMap, expected: AnyMap, place: Place): void {
    this.#compareLists([...actual.keys()], [...expected.keys()], place, "key ");
    this.#compareLists([...actual.values()], [...expected.values()], place, "value ");
  }

  #compareLists(
    actual: readonly unknown[],
    expected: readonly unknown[],
    place: Place,
    what: string,
  ): void {
    this.#same(place, "size", actual.length, expected.length);
    const common = Math.min(actual.length, expected.length);
    for (let index = 0; index < common; index++) {
      this.#push(actual[index], expected[index], place, `{${what}${index}}`);
    }
  }

  #compareBuffers(actual: ArrayBuffer, expected: ArrayBuffer, place: Place): void {
    this.#same(place, "byteLength", actual.byteLength, expected.byteLength);
    this.#same(place, "maxByteLength", actual.maxByteLength, expected.maxByteLength);
    this.#same(place, "resizable", isResizable(actual), isResizable(expected));
    const one = new Uint8Array(actual);
    const other = new Uint8Array(expected);
    if (one.length !== other.length || Buffer.compare(one, other) === 0) return;
    const at = one.findIndex((byte, index) => byte !== other[index]);
    this.#same(place, `byte ${at}`, one[at], other[at]);
  }

  #compareViews(actual: ArrayBufferView, expected: ArrayBufferView, place: Place): void {
    this.#same(place, "byteOffset", actual.byteOffset, expected.byteOffset);
    this.#same(place, "byteLength", actual.byteLength, expected.byteLength);
    this.#same(place, "tracks length", tracksLength(actual), tracksLength(expected));
    this.#push(actual.buffer, expected.buffer, place, ".buffer");
  }

  #compareProperties(actual: object, expected: object, place: Place): void {
    const keys = keysOf(expected);
    const actualKeys = keysOf(actual);
    if (!sameOrder(actualKeys, keys)) {
      this.#report(place, listed(actualKeys), listed(keys), "keys");
    }
    const both = new Set(actualKeys);
    for (const key of keys) {
      if (both.has(key)) this.#compareProperty(actual, expected, key, place);
    }
  }

  #compareProperty(actual: object, expected: object, key: PropertyKey, place: Place): void {
    const one = Object.getOwnPropertyDescriptor(actual, key)!;
    const other = Object.getOwnPropertyDescriptor(expected, key)!;
    const step = stepTo(key);
    if (attributesOf(one) !== attributesOf(other)) {
      this.#report({ parent: place, step }, attributesOf(one), attributesOf(other), "attributes");
    }
    this.#push(one.value, other.value, place, step);
  }

  #push(actual: unknown, expected: unknown, parent: Place, step: string): void {
    this.#pending.push({ actual, expected, place: { parent, step } });
  }

  #same(place: Place, what: string, actual: unknown, expected: unknown): void {
    if (!Object.is(actual, expected)) this.#report(place, actual, expected, what);
  }

  #report(place: Place, actual: unknown, expected: unknown, what = ""): void {
    const subject = what === "" ? pathTo(place) : `${pathTo(place)}, ${what}`;
    this.#found.push(`${subject}: ${shown(actual)}, expected ${shown(expected)}`);
  }
}

type AnyMap = Map<unknown, unknown>;

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** The kind by internal slot, whatever prototype or tag the object has. */
function kindOf(value: object): string {
  if (typeof value === "function") return "function";
  if (Array.isArray(value)) return "Array";
  if (ArrayBuffer.isView(value)) return viewKindOf(value);
  if (types.isMap(value)) return "Map";
  if (types.isSet(value)) return "Set";
  if (types.isDate(value)) return "Date";
  if (types.isRegExp(value)) return "RegExp";
  if (types.isArrayBuffer(value)) return "ArrayBuffer";
  if (types.isSharedArrayBuffer(value)) return "SharedArrayBuffer";
  if (types.isNumberObject(value)) return "Number";
  if (types.isStringObject(value)) return "String";
  if (types.isBooleanObject(value)) return "Boolean";
  if (types.isBigIntObject(value)) return "BigInt";
  if (types.isNativeError(value)) return "Error";
  return "Object";
}

const viewName = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype) as object,
  Symbol.toStringTag,
)!.get!;

function viewKindOf(view: ArrayBufferView): string {
  return (viewName.call(view) as string | undefined) ?? "DataView";
}

function primitiveIn(box: object): unknown {
  if (types.isNumberObject(box)) return Number.prototype.valueOf.call(box);
  if (types.isStringObject(box)) return String.prototype.valueOf.call(box);
  if (types.isBooleanObject(box)) return Boolean.prototype.valueOf.call(box);
  return BigInt.prototype.valueOf.call(box);
}

function isResizable(buffer: ArrayBuffer | SharedArrayBuffer): boolean {
  return buffer instanceof SharedArrayBuffer ? buffer.growable : buffer.resizable;
}

/** Resizes the buffer of the view to find out, and restores it. */
function tracksLength(view: ArrayBufferView): boolean {
  const { buffer } = view;
  if (!(buffer instanceof ArrayBuffer) || !buffer.resizable) return false;
  const { byteOffset, byteLength } = view;
  const size = buffer.byteLength;
  const content = new Uint8Array(buffer).slice();
  buffer.resize(Math.min(buffer.maxByteLength, size + 8));
  const grew = view.byteLength !== byteLength;
  buffer.resize(Math.min(size, byteOffset));
  const shrank = byteLength > 0 && !isOutOfBounds(view);
  buffer.resize(size);
  new Uint8Array(buffer).set(content);
  return grew || shrank;
}

function isOutOfBounds(view: ArrayBufferView): boolean {
  try {
    if (view instanceof DataView) return view.byteLength < 0; // throws
    Uint8Array.prototype.fill.call(view as Uint8Array, 0, 0, 0);
    return false;
  } catch {
    return true;
  }
}

/** Own keys in order, without those that every object of its kind has. */
function keysOf(value: object): PropertyKey[] {
  if (Array.isArray(value)) return Reflect.ownKeys(value).filter((key) => key !== "length");
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return Reflect.ownKeys(value);
  const { length } = value as Uint8Array;
  return length > MAX_LISTED_ELEMENTS ? [] : Reflect.ownKeys(value).slice(length);
}

function sameOrder(one: readonly PropertyKey[], other: readonly PropertyKey[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}

function attributesOf(property: PropertyDescriptor): string {
  const accessor = property.get !== undefined || property.set !== undefined;
  return [
    accessor ? "accessor" : property.writable ? "writable" : "read-only",
    property.enumerable ? "enumerable" : "hidden",
    property.configurable ? "configurable" : "fixed",
  ].join(" ");
}

function nameOfPrototype(prototype: unknown): string {
  if (prototype === null) return "no prototype";
  const maker = Object.getOwnPropertyDescriptor(prototype as object, "constructor")?.value as
    | { name?: unknown }
    | undefined;
  return `prototype of ${String(maker?.name ?? "something unnamed")}`;
}

function stepTo(key: PropertyKey): string {
  if (typeof key === "symbol") return `[${String(key)}]`;
  const text = String(key);
  if (/^\d+$/.test(text)) return `[${text}]`;
  return /^[A-Za-z_$][\w$]*$/.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`;
}

function pathTo(place: Place): string {
  const steps: string[] = [];
  for (let each: Place | undefined = place; each !== undefined; each = each.parent) {
    steps.push(each.step);
  }
  steps.reverse();
  const hidden = steps.length - 2 * SHOWN_STEPS;
  if (hidden > 0) steps.splice(SHOWN_STEPS, hidden, ` …${hidden} steps… `);
  return steps.join("");
}

function listed(keys: readonly PropertyKey[]): string {
  const first = keys.slice(0, 30).map((key) => typeof key === "symbol" ? String(key) : key);
  return JSON.stringify(first) + (keys.length > 30 ? ` and ${keys.length - 30} more` : "");
}

function shown(value: unknown): string {
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "string") {
    return value.length > 200 ? `${JSON.stringify(value.slice(0, 200))}…` : JSON.stringify(value);
  }
  if (typeof value === "bigint") return `${value}n`;
  return isObject(value) ? `an object of kind ${kindOf(value)}` : String(value);
}
