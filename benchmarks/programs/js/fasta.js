// Random DNA in the FASTA format, made in one buffer and written to standard output: fasta N.
import { writeSync } from "node:fs";

const IM = 139968;
const IA = 3877;
const IC = 29573;
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

const n = Number(process.argv[2]);
const heads = ["ONE Homo sapiens alu", "TWO IUB ambiguity codes", "THREE Homo sapiens frequency"]
  .map((head) => toBytes(`>${head}\n`));
const out = new Uint8Array(
  heads.reduce((sum, head) => sum + head.length, 0) + bytesOf(2 * n) + bytesOf(3 * n) +
    bytesOf(5 * n),
);

// Each function returns the place after what it wrote.
function start(head, at) {
  out.set(head, at);
  return at + head.length;
}

function repeat(letters, length, at) {
  let next = 0;
  for (let left = length; left > 0; left -= LINE) {
    for (let i = Math.min(left, LINE); i > 0; i--) {
      out[at++] = letters[next];
      next = next + 1 === letters.length ? 0 : next + 1;
    }
    out[at++] = NEWLINE;
  }
  return at;
}

let seed = 42;

function random(letters, sums, length, at) {
  let last = seed;
  for (let left = length; left > 0; left -= LINE) {
    for (let i = Math.min(left, LINE); i > 0; i--) {
      last = (last * IA + IC) % IM;
      const r = last / IM;
      let pick = 0;
      while (r >= sums[pick]) pick++;
      out[at++] = letters[pick];
    }
    out[at++] = NEWLINE;
  }
  seed = last;
  return at;
}

let at = start(heads[0], 0);
at = repeat(toBytes(ALU), 2 * n, at);
at = start(heads[1], at);
at = random(toBytes("acgtBDHKMNRSVWY"), toSums(IUB), 3 * n, at);
at = start(heads[2], at);
random(toBytes("acgt"), toSums(HUMAN), 5 * n, at);
for (let written = 0; written < out.length;) written += writeSync(1, out, written);
