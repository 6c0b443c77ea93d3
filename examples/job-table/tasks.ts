import type { SharedMap } from "heddle/shared";

export interface Job {
  readonly state: "queued" | "running" | "done";
  readonly limit: number;
  readonly result?: number;
}

/** Runs jobs until none is queued; returns their number. */
export function work(jobs: SharedMap<string, Job>): number {
  let count = 0;
  for (const name of jobs.keys()) {
    const job = claim(jobs, name);
    if (job === undefined) continue;
    jobs.set(name, { ...job, state: "done", result: countPrimes(job.limit) });
    count++;
  }
  return count;
}

/** The job, if no other worker has claimed it. */
function claim(jobs: SharedMap<string, Job>, name: string): Job | undefined {
  let isClaimed = false;
  const job = jobs.updateSync(name, (job) => {
    isClaimed = job!.state === "queued";
    return isClaimed ? { ...job!, state: "running" } : job!;
  });
  return isClaimed ? job : undefined;
}

function countPrimes(limit: number): number {
  const isComposite = new Uint8Array(limit);
  let count = 0;
  for (let number = 2; number < limit; number++) {
    if (isComposite[number] === 1) continue;
    count++;
    for (let multiple = number * 2; multiple < limit; multiple += number) isComposite[multiple] = 1;
  }
  return count;
}
