import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { type DebianPackages, unpackDebianPackages } from "../../native/steps/debian-packages.ts";
import { makeCacheEntry } from "../../src/files/index.ts";

/** Parts of packages that no program needs. */
const NEEDLESS = [".apt", "usr/share/doc", "usr/share/locale", "usr/share/man"];

/** Returns the name of this machine's Debian release, e.g. `bookworm`; empty on other systems. */
export function ownSuite(): string {
  const text = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  return /^ID=debian$/m.test(text) ? (/^VERSION_CODENAME=(\w+)$/m.exec(text)?.[1] ?? "") : "";
}

/**
 * Returns the folder of unpacked packages in the cache, and fetches them the first time. They are of this machine's own
 * release, because their programs use its C library.
 * @param finish adds files to the unpacked ones
 * @throws {Error} when the packages are unavailable
 */
export async function cachedDebianPackages(
  name: string,
  packages: DebianPackages,
  finish: (directory: string) => Promise<unknown> = async () => {},
): Promise<string> {
  if (packages.suite === "") throw new Error("this is not a Debian system");
  const content = JSON.stringify([process.arch, packages]);
  const entry = join(name, createHash("sha256").update(content).digest("hex").slice(0, 16));
  const path = join(defaultCacheRoot(), entry);
  if (existsSync(path)) return path;
  return await makeCacheEntry(defaultCacheRoot(), entry, async (directory) => {
    await unpackDebianPackages(packages, directory);
    for (const part of NEEDLESS) await rm(join(directory, part), { recursive: true, force: true });
    await finish(directory);
  });
}
