/** What the linter prints: findings as they come, and a summary. */
import type { Outcome } from "./lint.ts";

/** What of an outcome goes to stdout, a line each. */
export function linesOf(name: string, outcome: Outcome): string[] {
  if (outcome.kind === "skipped") return [];
  if (outcome.kind === "crashed") return [`${name}: crash: ${outcome.reason}`];
  return outcome.problems.map(({ line, column, severity, message, rule }) =>
    `${name}:${line}:${column}: ${severity}: ${message} (${rule})`
  );
}

/** Counts outcomes. */
export class Summary {
  readonly #files = { checked: 0, crashed: 0, skipped: 0 };
  readonly #problems = { error: 0, warning: 0 };

  add(outcome: Outcome): void {
    this.#files[outcome.kind]++;
    if (outcome.kind !== "checked") return;
    for (const { severity } of outcome.problems) this.#problems[severity]++;
  }

  get lines(): string[] {
    const { checked, crashed, skipped } = this.#files;
    const { error, warning } = this.#problems;
    const lines = [`${checked} files checked: ${error} errors, ${warning} warnings`];
    if (crashed > 0) lines.push(`${crashed} files crashed the linter`);
    if (skipped > 0) lines.push(`${skipped} files not checked`);
    return lines;
  }

  /** 1 for errors, 2 if the linter could not check all: a crash must not pass for a clean file. */
  get exitCode(): number {
    if (this.#files.crashed > 0) return 2;
    return this.#problems.error > 0 ? 1 : 0;
  }
}
