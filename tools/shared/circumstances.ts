import { cpus } from "node:os";
import { root } from "./checkout.ts";
import { CommandError, runCommand } from "./run-command.ts";

/** Returns date, commit and machine of measurements. */
export async function circumstances(now: number) {
  return {
    /** Day in UTC: 2026-11-21. */
    date: new Date(now).toISOString().slice(0, 10),
    /** Short commit hash, with a note when the checkout has changes. */
    commit: await currentCommit(),
    machine: `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown processor"}`,
  };
}

export type Circumstances = Awaited<ReturnType<typeof circumstances>>;

/** Returns `unknown` for a checkout without history. */
async function currentCommit(): Promise<string> {
  const git = (...args: readonly string[]) => runCommand(["git", "-C", root, ...args]);
  try {
    const commit = (await git("rev-parse", "--short=10", "HEAD")).trim();
    const folders = ["src", "sdk", "native", "models", "scripts", "tools", "harness"];
    const changed = await git("status", "--porcelain", "--", ...folders);
    return changed === "" ? commit : `${commit} with changes`;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return "unknown";
  }
}
