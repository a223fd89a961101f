import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeCacheEntry } from "../../src/models/cache-entry.ts";
import { messageOf } from "../../src/text/index.ts";
import { runCommand } from "./run-command.ts";

/** Debian 12 and 13. */
const SUITES = ["bookworm", "trixie"];
const TIMEOUT_MS = 10 * 60_000;

/** A reason why no Debian system can be installed here; null when it is possible. */
export function debootstrapObstacle(): string | null {
  if (process.getuid?.() !== 0) return "debootstrap and chroot need root";
  if (Bun.which("debootstrap") === null) return "debootstrap is missing (on Debian: apt install debootstrap)";
  return null;
}

/**
 * Returns the root directories of minimal Debian systems from the cache, and installs missing systems there.
 * @param packages packages that are installed in addition; the systems with them get a name of their own
 * @param onFailure receives the reason for each system that cannot be installed; without it, the error is thrown
 */
export async function debianSystems(
  cacheRoot: string,
  log: (line: string) => void,
  { nameSuffix = "", packages = [] as readonly string[] } = {},
  onFailure?: (reason: string) => void,
): Promise<string[]> {
  const roots: string[] = [];
  for (const suite of SUITES) {
    const entry = join("roots", `${suite}${nameSuffix}`);
    try {
      if (!existsSync(join(cacheRoot, entry, "etc/debian_version"))) {
        log(`installing Debian ${suite} into the cache`);
        const include = packages.length === 0 ? [] : [`--include=${packages.join(",")}`];
        await makeCacheEntry(cacheRoot, entry, async (directory) => {
          await runCommand(["debootstrap", "--variant=minbase", ...include, suite, directory], {
            timeoutMs: TIMEOUT_MS,
          });
        });
      }
      roots.push(join(cacheRoot, entry));
    } catch (error) {
      if (onFailure === undefined) throw error;
      onFailure(`${suite} cannot be installed: ${messageOf(error)}`);
    }
  }
  return roots;
}
