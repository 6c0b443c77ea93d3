/**
 * The programs that exist once in every language: their arguments and what they must print. Each reads its size when it runs, and every
 * step takes part in what it prints: a compiler can neither compute it ahead nor leave steps out.
 */

/** full: a measurement; quick: `./run.sh --quick`; test: a check of the output in milliseconds. */
export type Scale = "full" | "quick" | "test";

interface Sized {
  readonly size: number;
  /** The line that the program prints, or the SHA-256 of what it writes. */
  readonly result: string;
}

export interface Program {
  /** File name without extension. */
  readonly name: string;
  /** For people, with the full size. */
  readonly about: string;
  /** Arguments before the size. */
  readonly before: readonly string[];
  readonly scales: Readonly<Record<Scale, Sized>>;
  /** Smaller sizes for a language in which the others would take too long. */
  readonly reduced?: Readonly<Record<string, Readonly<Partial<Record<Scale, Sized>>>>>;
  /** The result is a hash of all output: it is too long for a line. */
  readonly isHashed?: boolean;
  /** Why heddle cannot split it over workers. */
  readonly isSequential?: string;
}

/** Energies before and after; 50,000,000 and 5,000,000 steps have published results. */
const energies = (after: string): string => `-0.169075164 ${after}`;

export const PROGRAMS: readonly Program[] = [
  {
    name: "fib-loop",
    about: "the 30th numbers of 10,000,000 Fibonacci sequences, by loops",
    before: ["30"],
    scales: {
      full: { size: 10_000_000, result: "6894320905465280" },
      quick: { size: 100_000, result: "68785637422832" },
      test: { size: 1000, result: "673293405500" },
    },
    reduced: { Python: { full: { size: 1_000_000, result: "689274932488544" } } },
  },
  {
    name: "fib-recursive",
    about: "recursive fib(35)",
    before: [],
    scales: {
      full: { size: 35, result: "9227465" },
      quick: { size: 25, result: "75025" },
      test: { size: 20, result: "6765" },
    },
  },
  {
    name: "sum",
    about: "sum of i XOR (i >> 3) for the integers below 100,000,000",
    before: [],
    scales: {
      full: { size: 100_000_000, result: "5007905533300608" },
      quick: { size: 1_000_000, result: "504003622624" },
      test: { size: 1000, result: "501996" },
    },
    reduced: { Python: { full: { size: 10_000_000, result: "50516936365248" } } },
  },
  {
    name: "nested-loop",
    about: "a loop in a loop, 20,000 × 20,000 additions",
    before: [],
    scales: {
      full: { size: 20_000, result: "5137176493568" },
      quick: { size: 600, result: "136569312" },
      test: { size: 100, result: "597144" },
    },
    reduced: { Python: { full: { size: 2000, result: "4091708288" } } },
  },
  {
    name: "sort",
    about: "sort of 10,000 random floats",
    before: [],
    scales: {
      full: { size: 10_000, result: "33309086285546" },
      quick: { size: 1000, result: "335462858489" },
      test: { size: 100, result: "3300211350" },
    },
  },
  {
    name: "n-body",
    about: "n-body, 50,000,000 steps",
    before: [],
    scales: {
      full: { size: 50_000_000, result: energies("-0.169059907") },
      quick: { size: 100_000, result: energies("-0.169079859") },
      test: { size: 1000, result: energies("-0.169087605") },
    },
    reduced: {
      Python: {
        full: { size: 5_000_000, result: energies("-0.169083134") },
        quick: { size: 10_000, result: energies("-0.169016441") },
      },
    },
    isSequential: "each step starts from the positions of the one before",
  },
  {
    name: "fasta",
    about: "fasta, N = 25,000,000",
    before: [],
    scales: {
      full: {
        size: 25_000_000,
        result: "3fcf4f78104c8a65ef210fe1d469f4e473456c791225f2f1f9114f4986aa09fa",
      },
      quick: {
        size: 100_000,
        result: "2907f3fb66fea247549c0f26b5b5d5cd1940a055574b72dad344283e1eb0fd10",
      },
      // The size of the published output.
      test: {
        size: 1000,
        result: "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73",
      },
    },
    isHashed: true,
  },
];

/** The size and the result of a program in a language. */
export const scaled = ({ scales, reduced }: Program, language: string, scale: Scale): Sized =>
  reduced?.[language]?.[scale] ?? scales[scale];
