import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeCacheEntry } from "../../src/files/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { copySystem } from "./copied-system.ts";
import { ownSuite } from "./debian-packages.ts";
import { runCommand } from "./run-command.ts";

/** Debian 12 and 13. */
const SUITES = ["bookworm", "trixie"];
const TIMEOUT_MS = 10 * 60_000;

/** A reason why no Debian system can be installed here; null when it is possible. */
export function systemsObstacle(): string | null {
  if (process.getuid?.() !== 0) return "chroot needs root";
  if (Bun.which("debootstrap") !== null || SUITES.includes(ownSuite())) return null;
  return "debootstrap is missing (on Debian: apt install debootstrap)";
}

/**
 * Returns the root directories of minimal Debian systems from the cache, and installs missing systems there: with
 * debootstrap, which needs a network. Without it, this machine's own release is copied from its installed packages.
 * @param packages packages that are installed in addition; the systems with them get a name of their own
 * @param optional packages that a copied system has only if this machine has them
 * @param onFailure receives the reason for each system that cannot be installed
 */
export async function debianSystems(
  cacheRoot: string,
  log: (line: string) => void,
  { nameSuffix = "", packages = [] as readonly string[], optional = [] as readonly string[] },
  onFailure: (reason: string) => void,
): Promise<string[]> {
  const all = [...packages, ...optional];
  const installed = [...packages, ...optional.filter((name) => existsSync(`/var/lib/dpkg/info/${name}.list`))];
  const roots: string[] = [];
  for (const suite of SUITES) {
    const fetched = join("roots", `${suite}${nameSuffix}`);
    const copied = `${fetched}-copied`;
    const known = [fetched, copied].find((entry) => existsSync(join(cacheRoot, entry, "etc/debian_version")));
    if (known !== undefined) {
      if (known === copied) onFailure(`${suite} cannot be fetched: a copy made of this machine's packages is used`);
      roots.push(join(cacheRoot, known));
      continue;
    }
    try {
      log(`installing Debian ${suite} into the cache`);
      roots.push(await makeCacheEntry(cacheRoot, fetched, (directory) => fetchSystem(suite, directory, all)));
    } catch (error) {
      onFailure(`${suite} cannot be fetched: ${messageOf(error)}`);
      if (suite !== ownSuite()) continue;
      log(`copying Debian ${suite} from this machine's packages`);
      roots.push(await makeCacheEntry(cacheRoot, copied, (directory) => copySystem(directory, ["apt", ...installed])));
    }
  }
  return roots;
}

async function fetchSystem(suite: string, directory: string, packages: readonly string[]): Promise<void> {
  const include = packages.length === 0 ? [] : [`--include=${packages.join(",")}`];
  await runCommand(["debootstrap", "--variant=minbase", ...include, suite, directory], { timeoutMs: TIMEOUT_MS });
}
