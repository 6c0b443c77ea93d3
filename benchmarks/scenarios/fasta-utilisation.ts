/** How much of a core each of heddle's workers uses while it makes its parts of fasta. */
import { createHash } from "node:crypto";
import { createPool } from "../../dist/mod.js";
import type { SharedVector, WaitGroup } from "../../dist/shared.js";
import type { Share } from "./fasta-share.ts";

type FillPart = (
  vector: SharedVector<"u8">,
  group: WaitGroup,
  n: number,
  part: number,
  parts: number,
) => Promise<Share>;

interface FastaProgram {
  generate(
    fillPart: FillPart,
    n: number,
    threads: number,
  ): Promise<{ readonly out: Uint8Array; readonly results: readonly Share[] }>;
}

/** Percent of a core, a figure for each worker. */
export async function measureUtilisation(
  n: number,
  threads: number,
  sha256: string,
): Promise<number[]> {
  const program = new URL("../programs/heddle/fasta.js", import.meta.url);
  const { generate } = await import(program.href) as FastaProgram;
  const url = new URL("./fasta-share.ts", import.meta.url);
  const pool = createPool({ threads })<typeof import("./fasta-share.ts")>(url);
  const { out, results } = await generate(pool.call.fillAndMeasure, n, threads);
  await pool.shutdown();
  const found = createHash("sha256").update(out).digest("hex");
  if (found !== sha256) throw new Error(`fasta ${n}: ${found} instead of ${sha256}`);
  const last = new Map<number, Share>();
  for (const share of results) {
    if (share.wallMs >= (last.get(share.worker)?.wallMs ?? 0)) last.set(share.worker, share);
  }
  return [...last.values()].map(({ cpuMs, wallMs }) => 100 * cpuMs / wallMs);
}
