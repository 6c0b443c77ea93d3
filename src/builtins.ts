/**
 * The global classes and functions that heddle uses, as they were when it was loaded. Programs replace them later: DOM
 * environments for tests (jsdom, happy-dom), polyfills, fake timers. Files import them from here by their own names, so that
 * a replacement changes nothing (`tests/unit/project/globals.test.ts`).
 *
 * Not here: what no library replaces as a whole (`Object`, `Math`, `Uint8Array`, …; the test has the list); what belongs to
 * one runtime, and clocks and timers (`runtimes/`); and what the program is meant to replace: `console`, and `Response`,
 * which heddle creates for the program's own server.
 */

/** What is thrown on older runtimes, when heddle is loaded. */
export const TOO_OLD = "heddle needs Node 22.18, Deno 2.9 or Bun 1.4.";

type Global = typeof globalThis;
type Taken = Pick<Global, (typeof NAMES)[number]>;

const NAMES = [
  "AbortController",
  "AbortSignal",
  "AggregateError",
  "CustomEvent",
  "DOMException",
  "Date",
  "Error",
  "EvalError",
  "EventTarget",
  "FinalizationRegistry",
  "JSON",
  "Map",
  "MessageChannel",
  "MessagePort",
  "Promise",
  "Proxy",
  "RangeError",
  "ReferenceError",
  "RegExp",
  "Set",
  "SuppressedError",
  "SyntaxError",
  "TextDecoder",
  "TextEncoder",
  "TypeError",
  "URIError",
  "URL",
  "WeakMap",
  "WeakRef",
  "WeakSet",
  "decodeURI",
  "queueMicrotask",
  "setTimeout",
  "structuredClone",
] as const;

/** On `globalThis`, since a task module that replaces globals may then load another copy of heddle (for `require`). */
const KEY = Symbol.for("heddle.builtins");

const before = (globalThis as { readonly [KEY]?: Partial<Taken> })[KEY];
const taken = {} as Taken;
for (const name of NAMES) Object.assign(taken, { [name]: before?.[name] ?? globalThis[name] });
if (before === undefined) Object.defineProperty(globalThis, KEY, { value: taken });

export const AbortController: Global["AbortController"] = taken.AbortController;
export const AbortSignal: Global["AbortSignal"] = taken.AbortSignal;
export const AggregateError: Global["AggregateError"] = taken.AggregateError;
export const CustomEvent: Global["CustomEvent"] = taken.CustomEvent;
export const DOMException: Global["DOMException"] = taken.DOMException;
export const Date: Global["Date"] = taken.Date;
export const Error: Global["Error"] = taken.Error;
export const EvalError: Global["EvalError"] = taken.EvalError;
export const EventTarget: Global["EventTarget"] = taken.EventTarget;
export const FinalizationRegistry: Global["FinalizationRegistry"] = taken.FinalizationRegistry;
export const JSON: Global["JSON"] = taken.JSON;
export const Map: Global["Map"] = taken.Map;
export const MessageChannel: Global["MessageChannel"] = taken.MessageChannel;
export const MessagePort: Global["MessagePort"] = taken.MessagePort;
export const Promise: Global["Promise"] = taken.Promise;
export const Proxy: Global["Proxy"] = taken.Proxy;
export const RangeError: Global["RangeError"] = taken.RangeError;
export const ReferenceError: Global["ReferenceError"] = taken.ReferenceError;
export const RegExp: Global["RegExp"] = taken.RegExp;
export const Set: Global["Set"] = taken.Set;
/** Undefined on Node 22. */
export const SuppressedError: Global["SuppressedError"] | undefined = taken.SuppressedError;
export const SyntaxError: Global["SyntaxError"] = taken.SyntaxError;
export const TextDecoder: Global["TextDecoder"] = taken.TextDecoder;
export const TextEncoder: Global["TextEncoder"] = taken.TextEncoder;
export const TypeError: Global["TypeError"] = taken.TypeError;
export const URIError: Global["URIError"] = taken.URIError;
export const URL: Global["URL"] = taken.URL;
export const WeakMap: Global["WeakMap"] = taken.WeakMap;
export const WeakRef: Global["WeakRef"] = taken.WeakRef;
export const WeakSet: Global["WeakSet"] = taken.WeakSet;
export const decodeURI: Global["decodeURI"] = taken.decodeURI;
export const queueMicrotask: Global["queueMicrotask"] = taken.queueMicrotask;
export const setTimeout: Global["setTimeout"] = taken.setTimeout;
export const structuredClone: Global["structuredClone"] = taken.structuredClone;

/** Classes whose modules Node and Deno load when they are first used. The runtime's adapter says where the original is. */
export const lazy: { readableStream: () => Global["ReadableStream"] } = {
  readableStream: () => globalThis.ReadableStream,
};
