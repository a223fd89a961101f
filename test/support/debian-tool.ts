import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { inCache } from "../../native/steps/in-cache.ts";
import { digestFile } from "../../src/program/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { runCommand } from "../../tools/shared/run-command.ts";

const DOWNLOAD_MILLISECONDS = 120_000;
/** Directory of the packages that apt has downloaded and checked. */
const APT_ARCHIVES = "/var/cache/apt/archives";

/** A program of Debian's packages that a test runs. */
interface DebianTool {
  readonly program: string;
  /** The package with the program, then those with libraries that it needs. */
  readonly packages: readonly [string, ...string[]];
  /** Tests that are skipped without the program. */
  readonly skipped: string;
}

/**
 * Returns a directory with the files of Debian's packages, which are unpacked into the cache and not installed. Returns
 * null where they cannot be had, and says so.
 */
export async function debianTool({ program, packages, skipped }: DebianTool): Promise<string | null> {
  try {
    const archives = await Promise.all(packages.map((name) => storedArchive(name) ?? knownArchive(name)));
    const key = archives.map(({ sha256 }) => sha256.slice(0, 16)).join("-");
    return await inCache(
      join(defaultCacheRoot(), "debian-tools", program, key),
      () => {},
      async (work) => {
        for (const archive of archives) await unpack(archive, work);
        return join(work, "unpacked");
      },
    );
  } catch (error) {
    console.warn(`SKIPPED: ${skipped}; ${program}, of Debian's ${packages[0]}, is missing: ${messageOf(error)}`);
    return null;
  }
}

interface Archive {
  readonly name: string;
  readonly sha256: string;
  /** Path of the archive; null if it is not on this machine. */
  readonly path: string | null;
}

/** Returns the archive that apt has stored; null if there is none. */
function storedArchive(name: string): Promise<Archive> | null {
  const [stored] = [...new Bun.Glob(`${name}_*.deb`).scanSync({ cwd: APT_ARCHIVES, onlyFiles: true })].sort().reverse();
  if (stored === undefined) return null;
  const path = join(APT_ARCHIVES, stored);
  return digestFile(path, "sha256").then((sha256) => ({ name, sha256, path }));
}

async function knownArchive(name: string): Promise<Archive> {
  const description = await runCommand(["apt-cache", "show", "--no-all-versions", name]);
  const sha256 = /^SHA256: ([0-9a-f]{64})$/m.exec(description)?.[1];
  if (sha256 === undefined) throw new Error(`apt knows no package ${name}`);
  return { name, sha256, path: null };
}

async function unpack({ name, sha256, path }: Archive, work: string): Promise<void> {
  if (path === null) await runCommand(["apt-get", "download", name], { cwd: work, timeoutMs: DOWNLOAD_MILLISECONDS });
  else await copyFile(path, join(work, `${name}_stored.deb`));
  const [archive = ""] = await Array.fromAsync(new Bun.Glob(`${name}_*.deb`).scan(work));
  if ((await digestFile(join(work, archive), "sha256")) !== sha256) {
    throw new Error("the downloaded package has another digest than apt's list");
  }
  await runCommand(["dpkg-deb", "--extract", join(work, archive), join(work, "unpacked")]);
}
