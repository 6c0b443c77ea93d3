/** Compile-time assertions: the arguments that calls accept. Checked by `npm run typecheck`. */
import type { KeyObject } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { MessagePort as NodePort } from "node:worker_threads";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { borrow, type Borrowed, type Call, createPool, Envelope, transfer } from "../../src/mod.ts";
import type { CallArguments, Cloneable, Uncloneable } from "../../src/api/calls/call-types.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
function assert<_T extends true>(): void {}

/** Whether callers can pass every value of the type. */
type IsAccepted<T> = Equal<Cloneable<T>, T>;
/** Whether callers can pass no value of the type. */
type IsRefused<T> = Equal<T extends Cloneable<T> ? true : false, false>;
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

interface Tree {
  readonly value: number;
  readonly parent?: Tree;
  readonly children: Tree[];
  readonly byName: ReadonlyMap<string, Tree>;
}

declare class Plain {
  private readonly secret: number;
  readonly value: number;
}

class Account {
  balance = 0;
  deposit(amount: number): void {
    this.balance += amount;
  }
}

type Pair = readonly [Pair | null, Pair | null];
type Groups = string | Map<string, Groups> | Set<Groups>;

interface Options {
  readonly name: string;
  readonly onProgress?: (done: number) => void;
}

// Values that structured clone copies keep their types.
assert<IsAccepted<string & { readonly brand: "id" }>>();
assert<IsAccepted<readonly [a: number, b?: string]>>();
assert<IsAccepted<{ readonly [key: string]: number | undefined; readonly a?: number }>>();
assert<IsAccepted<object>>();
assert<IsAccepted<unknown>>();
assert<IsAccepted<Json>>();
assert<IsAccepted<Pair>>();
assert<IsAccepted<Groups>>();
assert<IsAccepted<Tree>>();
assert<IsAccepted<Plain>>();
assert<IsAccepted<Date | RegExp | TypeError>>();
assert<IsAccepted<Map<string, Set<Date>>>>();
assert<IsAccepted<ReadonlyMap<string, ReadonlySet<Date>>>>();
assert<IsAccepted<Uint8Array | Float64Array[] | Buffer | DataView>>();
assert<IsAccepted<ArrayBuffer | SharedArrayBuffer>>();
assert<IsAccepted<Blob | File | CryptoKey | KeyObject>>();
assert<IsAccepted<Iterable<number> | ArrayLike<number>>>();
// Values that are transferred.
assert<IsAccepted<MessagePort | NodePort | FileHandle>>();
assert<IsAccepted<ReadableStream<number> | NodeStream<number>>>();
assert<IsAccepted<WritableStream<number>>>();
assert<IsAccepted<TransformStream<number, string>>>();
// Wrappers.
assert<IsAccepted<Borrowed>>();
assert<IsAccepted<Envelope<{ id: number }, Uint8Array>>>();

assert<IsRefused<() => void>>();
assert<IsRefused<typeof Account>>();
assert<IsRefused<Account>>();
assert<IsRefused<readonly Account[]>>();
assert<IsRefused<Map<string, () => void>>>();
assert<IsRefused<{ readonly nested: { readonly callback: () => void } }>>();
assert<IsRefused<Envelope<{ id: number }, () => void>>>();
assert<IsRefused<URL>>();
assert<IsRefused<URLSearchParams>>();
assert<IsRefused<AbortSignal>>();
assert<IsRefused<Response>>();
assert<IsRefused<WeakMap<object, number>>>();
assert<IsRefused<{ readonly value: Promise<number> }>>();

assert<
  Equal<Cloneable<Options>, {
    readonly name: string;
    readonly onProgress?: Uncloneable<"a function">;
  }>
>();
assert<IsRefused<readonly [number, () => void]>>();
assert<
  Equal<CallArguments<[a: number, b?: string]>, [
    a: number | Promise<number>,
    b?: string | Promise<string | undefined>,
  ]>
>();
assert<
  Equal<
    CallArguments<[number | Promise<number>]>,
    [number | Promise<number>]
  >
>();
// deno-lint-ignore no-explicit-any -- pins that such a parameter stays as it is
assert<Equal<CallArguments<[any, ...unknown[]]>, [any, ...unknown[]]>>();

declare const visit: (each: (n: number) => void) => void;
declare const retry: (times: number, each?: () => void) => void;
declare const start: (options: Options) => void;
declare const pay: (account: Account) => void;
declare const fetchAll: (url: URL, signal?: AbortSignal) => void;
declare const total: (numbers: Iterable<number>) => number;
declare const hash: (bytes: Borrowed) => string;
declare const store: (bytes: Uint8Array) => void;
declare const send: (message: Envelope<{ id: number }, Uint8Array>) => void;
declare const listen: (port: MessagePort) => void;
declare const show: (value: unknown) => void;
const { call } = createPool()({
  visit,
  retry,
  start,
  pay,
  fetchAll,
  total,
  hash,
  store,
  send,
  listen,
  show,
});

assert<Equal<typeof call.visit, Call<typeof visit>>>();

export async function accepted(): Promise<void> {
  const bytes = new Uint8Array(8);
  await call.retry(1);
  await call.start({ name: "a" });
  await call.start(Promise.resolve({ name: "a" }));
  await call.total([1, 2]);
  await call.total(new Set([1, 2]));
  await call.hash(borrow(bytes));
  await call.store(transfer(bytes));
  await call.store(Promise.resolve(bytes));
  await call.send(new Envelope({ id: 1 }, bytes));
  await call.listen(transfer(new MessageChannel().port1));
  await call.show(new Account());
}

export async function refused(): Promise<void> {
  // @ts-expect-error a function
  await call.visit(() => {});
  // @ts-expect-error a promise of a function
  await call.visit(Promise.resolve(() => {}));
  // @ts-expect-error a function for an optional parameter
  await call.retry(1, () => {});
  // @ts-expect-error a function in an object
  await call.start({ name: "a", onProgress: () => {} });
  // @ts-expect-error an instance of a class with methods
  await call.pay(new Account());
  // @ts-expect-error an object without the methods of the class
  await call.pay({ balance: 1 });
  // @ts-expect-error an object that cannot be cloned
  await call.fetchAll(new URL("https://example.com"));
  // @ts-expect-error not iterable
  await call.total(1);
}
