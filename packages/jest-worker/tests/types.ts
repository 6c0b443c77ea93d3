/** Types of a farm: compiled, not run. */
import type { JestWorkerFarm } from "@heddle/jest-worker";

interface Module extends Record<string, unknown> {
  runTest(path: string, count: number): void;
  load(): Promise<number>;
  isResult: boolean;
  setup(): void;
  end(): string;
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true
  : false;
type Known = { [Key in keyof Module as string extends Key ? never : Key]: Module[Key] };
type Farm = JestWorkerFarm<Known>;

export const holds: readonly true[] = [
  true satisfies Same<Farm["runTest"], (path: string, count: number) => Promise<void>>,
  true satisfies Same<Farm["load"], () => Promise<number>>,
  true satisfies Same<Awaited<ReturnType<Farm["end"]>>["forceExited"], boolean>,
  true satisfies Same<"isResult" extends keyof Farm ? true : false, false>,
  true satisfies Same<"setup" extends keyof Farm ? true : false, false>,
];
