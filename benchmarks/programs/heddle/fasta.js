// Random DNA in the FASTA format, made in one shared vector by workers: fasta N THREADS.
// A part is a range of lines of each section. Its first random number comes from jumping ahead.
import { writeSync } from "node:fs";
import { createPool, isMain } from "../../../dist/mod.js";
import { SharedVector, WaitGroup } from "../../../dist/shared.js";

const IM = 139968;
const IA = 3877;
const IC = 29573;
const SEED = 42;
const LINE = 60;
const NEWLINE = 10;
const ALU = "GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGG" +
  "TCAGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGG" +
  "CGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGC" +
  "GGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA";
const IUB = [0.27, 0.12, 0.12, 0.27, ...new Array(11).fill(0.02)];
const HUMAN = [0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008];

const toBytes = (text) => new TextEncoder().encode(text);
const toSums = (shares) => {
  let sum = 0;
  return Float64Array.from(shares, (share) => sum += share);
};
const bytesOf = (length) => length + Math.ceil(length / LINE);

// Where each section starts, with its head; `first` counts the random numbers before it.
function sectionsOf(n) {
  let at = 0;
  return [
    { head: "ONE Homo sapiens alu", letters: ALU, length: 2 * n },
    {
      head: "TWO IUB ambiguity codes",
      letters: "acgtBDHKMNRSVWY",
      length: 3 * n,
      shares: IUB,
      first: 0,
    },
    {
      head: "THREE Homo sapiens frequency",
      letters: "acgt",
      length: 5 * n,
      shares: HUMAN,
      first: 3 * n,
    },
  ].map((section) => {
    const head = toBytes(`>${section.head}\n`);
    const start = at + head.length;
    const end = start + bytesOf(section.length);
    const placed = { ...section, head, at, start, end };
    at = end;
    return placed;
  });
}

// The seed after so many steps: squares x -> a * x + c as often as needed.
function seedAfter(steps) {
  let seed = SEED;
  let a = IA;
  let c = IC;
  for (let left = steps; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) seed = (seed * a + c) % IM;
    c = (a * c + c) % IM;
    a = a * a % IM;
  }
  return seed | 0; // a small integer for the engine again: the products above were doubles
}

function repeat(out, letters, from, to, at) {
  let next = from % letters.length;
  for (let left = to - from; left > 0; left -= LINE) {
    for (let i = Math.min(left, LINE); i > 0; i--) {
      out[at++] = letters[next];
      next = next + 1 === letters.length ? 0 : next + 1;
    }
    out[at++] = NEWLINE;
  }
}

function random(out, letters, sums, seed, length, at) {
  for (let left = length; left > 0; left -= LINE) {
    for (let i = Math.min(left, LINE); i > 0; i--) {
      seed = (seed * IA + IC) % IM;
      const r = seed / IM;
      let pick = 0;
      while (r >= sums[pick]) pick++;
      out[at++] = letters[pick];
    }
    out[at++] = NEWLINE;
  }
}

export function fill(vector, group, n, part, parts) {
  const out = vector.view();
  for (const { head, letters, length, shares, first, at, start } of sectionsOf(n)) {
    if (part === 0) out.set(head, at);
    const lines = Math.ceil(length / LINE);
    const line = Math.floor(lines * part / parts);
    const from = line * LINE;
    const to = Math.min(Math.floor(lines * (part + 1) / parts) * LINE, length);
    const place = start + from + line;
    if (shares === undefined) repeat(out, toBytes(letters), from, to, place);
    else {
      random(out, toBytes(letters), toSums(shares), seedAfter(first + from), to - from, place);
    }
  }
  group.done();
}

// Workers take the parts as they come: a few for each, in case one is held up.
export async function generate(fillPart, n, threads) {
  const vector = new SharedVector("u8", { length: sectionsOf(n).at(-1).end });
  const group = new WaitGroup();
  const parts = 4 * threads;
  group.add(parts);
  const calls = Array.from(
    { length: parts },
    (_, part) => fillPart(vector, group, n, part, parts),
  );
  // A call that fails ends the program; the group alone would wait for its part.
  const [, ...results] = await Promise.all([group.wait(), ...calls]);
  return { out: vector.view(), results };
}

if (isMain && import.meta.main) {
  const [n, threads] = process.argv.slice(2).map(Number);
  const pool = createPool({ threads })(new URL(import.meta.url));
  const { out } = await generate(pool.call.fill, n, threads);
  for (let written = 0; written < out.length;) written += writeSync(1, out, written);
  await pool.shutdown();
}
