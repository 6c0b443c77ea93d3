/** Classes of the kernel without private members and fields: they do what they did, and others stay as they are. */
import { expect, test } from "vitest";
import { plainMembers } from "./plain-members.ts";

const inFile = (path: string, code: string): string => plainMembers(`// ${path}\n${code}`);
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
  get seen() { return [this.#count, this.#log, Object.hasOwn(this, "last"), typeof this.advance()]; }
}
class Wrapper { #inner = new Counter(2); open() { return class Own { #inner = 1; value() { return this.#inner; } }; } get inner() { return this.#inner; } }
const wrapper = new Wrapper();
const result = [wrapper.inner.add("a"), wrapper.inner.add("b"), wrapper.inner.seen, new (wrapper.open())().value(), Counter.created];
`;

test("classes of the kernel do the same without them", () => {
  const code = kernel(COUNTER);
  expect(code).not.toContain("#");
  expect(run(code)).toEqual(run(COUNTER));
  expect(run(code)).toEqual([0, 1, [1, ["a", "b"], true, "function"], 1, 1]);
});

test("a field that the constructor sets is not set before", () => {
  const code = kernel("class A { #a; #b; constructor(a) { this.#a = a; if (a) this.#b = 1; } }");
  expect(code).toContain("class A {   constructor(a) {this._1 = void 0; this._0 = a;");
});

test.each([
  ["src/features/calls/map/host/map.ts", "class A { #a = 1; b = 2; }"],
  ["src/ring/one.ts", "class A extends EventTarget { #a = 1; b = 2; }"],
  ["src/ring/one.ts", "class A { static #a = 1; static { A.b = A.#c(); } static #c() {} }"],
])("in %s, %s keeps what programs could see", (path, code) => {
  const plain = inFile(path, code);
  if (!code.includes("static")) expect(plain).toBe(`// ${path}\n${code}`);
  else expect(() => run(`${plain}; const result = A`)).not.toThrow();
});

test("a field that reads what the constructor declares is refused", () => {
  const wrong = "class A { #a = size; constructor(size) { this.b = size; } }";
  expect(() => kernel(wrong)).toThrow("A field reads size, which its constructor declares: size");
});
