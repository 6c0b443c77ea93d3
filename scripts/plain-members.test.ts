/** Classes of the kernel without private members and fields: they do what they did, and others stay as they are. */
import { expect, test } from "vitest";
import { kernelClasses, plainMembers } from "./plain-members.ts";

const inFile = (path: string, code: string): string =>
  plainMembers(code, kernelClasses({ [`/project/${path}`]: { code } }));
const kernel = (code: string): string => inFile("src/ring/one.ts", code);

/** The value of the variable `result` of a script. */
const run = (code: string): unknown => new Function(`${code}; return result;`)();

const COUNTER = `
let made = 0;
class Counter {
  static created = 0;
  #count = ++made;
  last;
  #step;
  #log = [];
  add = (by) => { const { length } = this.#log; this.#log.push(by); return length; };
  constructor(step) { this.#step = step; Counter.created++; }
  async #later() { return this.#count; }
  get #next() { return this.#count + this.#step; }
  set #next(value) { this.#count = value; }
  advance() { this.#next = this.#next; this.#count++; return this.#later; }
  get seen() { return [typeof this.advance(), this.#count, this.#log, Object.hasOwn(this, "last")]; }
}
class Wrapper { #inner = new Counter(2); open() { return class Own { #inner = 1; value() { return this.#inner; } }; } get inner() { return this.#inner; } }
const wrapper = new Wrapper();
const result = [wrapper.inner.add("a"), wrapper.inner.add("b"), wrapper.inner.seen, new (wrapper.open())().value(), Counter.created];
`;

test("classes of the kernel do the same without them", () => {
  const code = kernel(COUNTER);
  expect(code.match(/#\w+/g)).toEqual(["#inner", "#inner"]); // of the class that has no name outside
  expect(run(code)).toEqual(run(COUNTER));
  expect(run(code)).toEqual([0, 1, ["function", 4, ["a", "b"], true], 1, 1]);
});

test("classes of the kernel meet nothing that a program adds to Object.prototype", () => {
  const code = kernel("class A { size = 1; #a = 2; sum() { return this.size + this.#a; } }");
  const names = ["size", "_0"];
  for (const name of names) {
    Object.defineProperty(Object.prototype, name, { get: () => 5, configurable: true });
  }
  try {
    expect(run(`${code}; const result = new A().sum()`)).toBe(3);
  } finally {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  }
});

test("a field that the constructor sets is not set before", () => {
  const code = kernel("class A { #a; #b; constructor(a) { this.#a = a; if (a) this.#b = 1; } }");
  expect(code).toContain("class A {   constructor(a) {this._1 = void 0; this._0 = a;");
});

test.each([
  ["src/features/calls/map/host/map.ts", "class A { #a = 1; b = 2; }"],
  ["src/ring/one.ts", "class A extends EventTarget { #a = 1; b = 2; }"],
  ["src/ring/one.ts", "const make = () => class A { #a = 1; b = 2; };"],
])("in %s, %s stays as it is", (path, code) => {
  expect(inFile(path, code)).toBe(code);
});

test("a class is of the module that declares it, whatever stands before it", () => {
  const [own, other] = ["class A { #a = 1; }", "class B { #b = 1; }"];
  const modules = {
    "/project/src/features/b.ts": { code: other },
    "/project/src/ring/a.ts": { code: own },
  };
  const code = plainMembers(`${own}\n${other}`, kernelClasses(modules));
  expect(code).toContain("alone(A);");
  expect(code).toContain(other);
  expect(() => plainMembers(other, kernelClasses(modules))).toThrow("The file has no class A.");
});

test("static members stay static", () => {
  const code = kernel(
    "class A { static #a = 1; static { A.b = A.#c() + 1; } static #c() { return A.#a; } }",
  );
  expect(run(`${code}; const result = A.b`)).toBe(2);
});

test.each([
  ["class A { #a = size; constructor(size) { this.b = size; } }", "A field reads size"],
  ["class A { #a = f(); constructor() { function f() {} } }", "A field reads f"],
  ["class A { [name] = 1; }", "cannot have this member: [name] = 1;"],
  ["class A { #a = 1; _0 = 2; }", "cannot have this member: _0 = 2;"],
  ["class A { #a = 1; is(o) { return #a in o; } }", "cannot ask for a private member: #a in o"],
])("%s is refused", (code, reason) => {
  expect(() => kernel(code)).toThrow(reason);
});
