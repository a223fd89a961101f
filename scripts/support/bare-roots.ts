import { join } from "node:path";
import { makeCacheEntry } from "../../src/models/cache-entry.ts";
import { messageOf } from "../../src/text/index.ts";
import { runCommand } from "./run-command.ts";

/** Debian 12 and 13. */
const suites = ["bookworm", "trixie"];
const timeoutMs = 10 * 60_000;

/**
 * Root file systems of bare Debian systems, with what their package manager needs and no more; made once and kept in the
 * cache. Says aloud which can't be had.
 * @returns their directories
 */
export async function bareRoots(cacheRoot: string, log: (line: string) => void): Promise<string[]> {
  const skipped = (why: string) => log(`SKIPPED: bare Debian systems; ${why}`);
  if (process.getuid?.() !== 0) {
    skipped("debootstrap and chroot need root");
    return [];
  }
  if (Bun.which("debootstrap") === null) {
    skipped("debootstrap is missing (on Debian: apt install debootstrap)");
    return [];
  }
  const roots: string[] = [];
  for (const suite of suites) {
    const entry = join("roots", suite);
    const path = join(cacheRoot, entry);
    try {
      if (!(await Bun.file(join(path, "etc/debian_version")).exists())) {
        log(`bare Debian: making ${suite}`);
        await makeCacheEntry(cacheRoot, entry, async (directory) => {
          await runCommand(["debootstrap", "--variant=minbase", suite, directory], { timeoutMs });
        });
      }
      roots.push(path);
    } catch (error) {
      skipped(`${suite} can't be made: ${messageOf(error)}`);
    }
  }
  return roots;
}
