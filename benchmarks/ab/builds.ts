/** The builds that `bench:ab` compares. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/** Builds in a folder as `npm run build` does. Synchronous: no build writes into a worktree that is being removed. */
export function build(folder: string, ...args: readonly string[]): void {
  const tsup = path.join(folder, "node_modules/.bin/tsup");
  // Standard output is for the result.
  execFileSync(tsup, ["--silent", ...args], { cwd: folder, stdio: ["ignore", 2, 2] });
}

/**
 * Builds a commit of the checkout's repository in a temporary git worktree, with the checkout's node_modules, and
 * returns the worktree's folder. It is removed when this process exits; a signal that ends the process must
 * therefore be handled by `process.exit()`.
 */
export function buildCommit(root: string, commit: string): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "heddle-ab-"));
  process.on("exit", () => removeWorktree(root, folder));
  git(root, "worktree", "add", "--quiet", "--detach", folder, commit);
  symlinkSync(realpathSync(path.join(root, "node_modules")), path.join(folder, "node_modules"));
  build(folder, "--no-dts");
  return folder;
}

/** The full hash of a commit, which may be named as git allows. Throws if there is none. */
export function resolveCommit(root: string, commit: string): string {
  try {
    return git(root, "rev-parse", "--verify", "--end-of-options", `${commit}^{commit}`).trim();
  } catch (error) {
    throw new Error(`there is no commit ${commit}`, { cause: error });
  }
}

/** What git prints. Its complaints are in the error. */
function git(root: string, ...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" });
}

function removeWorktree(root: string, folder: string): void {
  spawnSync("git", ["worktree", "remove", "--force", folder], { cwd: root, stdio: "ignore" });
  // What git left behind: it refuses folders whose `worktree add` was interrupted.
  rmSync(folder, { recursive: true, force: true });
  spawnSync("git", ["worktree", "prune"], { cwd: root, stdio: "ignore" });
}
