//! Random DNA in the FASTA format, made in one buffer and written to standard output: fasta N.

use std::io::Write;

const IM: i32 = 139968;
const IA: i32 = 3877;
const IC: i32 = 29573;
const LINE: usize = 60;
const ALU: &[u8] = b"GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGG\
    TCAGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCGGG\
    CGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGGAGGC\
    GGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA";
const IUB: [f64; 15] = [
    0.27, 0.12, 0.12, 0.27, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02,
];
const HUMAN: [f64; 4] = [0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008];

fn to_sums(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    shares.iter().map(|share| { sum += share; sum }).collect()
}

fn bytes_of(length: usize) -> usize {
    length + length.div_ceil(LINE)
}

// Each function returns the place after what it wrote.
fn start(out: &mut [u8], head: &[u8], at: usize) -> usize {
    out[at..at + head.len()].copy_from_slice(head);
    at + head.len()
}

fn repeat(out: &mut [u8], letters: &[u8], length: usize, mut at: usize) -> usize {
    let mut next = 0;
    let mut left = length;
    while left > 0 {
        let line = left.min(LINE);
        for _ in 0..line {
            out[at] = letters[next];
            at += 1;
            next = if next + 1 == letters.len() { 0 } else { next + 1 };
        }
        out[at] = b'\n';
        at += 1;
        left -= line;
    }
    at
}

fn random(
    out: &mut [u8],
    letters: &[u8],
    sums: &[f64],
    length: usize,
    mut at: usize,
    seed: &mut i32,
) -> usize {
    let mut last = *seed;
    let mut left = length;
    while left > 0 {
        let line = left.min(LINE);
        for _ in 0..line {
            last = (last * IA + IC) % IM;
            let r = last as f64 / IM as f64;
            let mut pick = 0;
            while r >= sums[pick] {
                pick += 1;
            }
            out[at] = letters[pick];
            at += 1;
        }
        out[at] = b'\n';
        at += 1;
        left -= line;
    }
    *seed = last;
    at
}

fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let one = b">ONE Homo sapiens alu\n";
    let two = b">TWO IUB ambiguity codes\n";
    let three = b">THREE Homo sapiens frequency\n";
    let heads = one.len() + two.len() + three.len();
    let mut out = vec![0; heads + bytes_of(2 * n) + bytes_of(3 * n) + bytes_of(5 * n)];
    let mut seed = 42;
    let mut at = start(&mut out, one, 0);
    at = repeat(&mut out, ALU, 2 * n, at);
    at = start(&mut out, two, at);
    at = random(&mut out, b"acgtBDHKMNRSVWY", &to_sums(&IUB), 3 * n, at, &mut seed);
    at = start(&mut out, three, at);
    random(&mut out, b"acgt", &to_sums(&HUMAN), 5 * n, at, &mut seed);
    std::io::stdout().write_all(&out).unwrap();
}
