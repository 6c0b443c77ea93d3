/** Makes source files to lint, the same ones each time. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Enough for some 2 ms of checks when the engine has compiled them. */
const FUNCTIONS = 38;
const FILES_PER_FOLDER = 100;
/** Every so many files have something to report. */
const PROBLEM_EVERY = 10;

const WORDS = "order price total item user page cache index queue state token value".split(" ");

/** A linear congruential generator: the numbers of a file depend on its own alone. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

function functionOf(n: number, random: (below: number) => number): string {
  const word = (): string => WORDS[random(WORDS.length)]!;
  const name = `${word()}${n}`;
  const [one, other] = [`${word()}A`, `${word()}B`];
  return `/** Works out the ${word()} of each ${word()}, number ${n}. */
export function ${name}(${one}: number, ${other}: string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const [index, text] of ${other}.entries()) {
    if (text.length > ${random(90)} && /${word()}[a-z]+/.test(text)) continue;
    const key = \`\${text.slice(0, ${random(9)})}-${word()}-\${index % ${1 + random(50)}}\`;
    found.set(key, (found.get(key) ?? ${random(1000)}) + ${one} / ${1 + random(99)});
  }
  return found.size === 0 ? new Map([["${word()}", ${random(1000)}]]) : found;
}
`;
}

/** The text of a generated file. */
export function sourceOf(n: number): string {
  const random = randomOf(n + 1);
  const parts = Array.from({ length: FUNCTIONS }, (_, index) => functionOf(index, random));
  if (n % PROBLEM_EVERY === 3) parts.splice(random(FUNCTIONS), 0, `// TODO: file ${n}\n`);
  return parts.join("\n");
}

/** Makes the files `part-000/file-00000.ts` and so on. */
export function generate(count: number, folder: string): void {
  for (let n = 0; n < count; n++) {
    const part = join(folder, `part-${String(Math.floor(n / FILES_PER_FOLDER)).padStart(3, "0")}`);
    mkdirSync(part, { recursive: true });
    writeFileSync(join(part, `file-${String(n).padStart(5, "0")}.ts`), sourceOf(n));
  }
}
