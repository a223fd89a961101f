import { root } from "../shared/checkout.ts";
import { runCommand } from "../shared/run-command.ts";

/** Returns this checkout's commit, with `-changed` appended when files differ from it; `unknown` without git. */
export async function checkoutCommit(): Promise<string> {
  const git = (...args: string[]) => runCommand(["git", ...args], { cwd: root }).then((output) => output.trim());
  try {
    const head = await git("rev-parse", "HEAD");
    const changes = await git("status", "--porcelain").catch(() => "unknown");
    return changes === "" ? head : `${head}-changed`;
  } catch {
    return "unknown";
  }
}
