import { join } from "node:path";
import { defaultCacheRoot } from "../../native/build.ts";
import { inCache } from "../../native/steps/in-cache.ts";
import { runCommand } from "../../scripts/support/run-command.ts";
import { messageOf } from "../../src/text/index.ts";

const DOWNLOAD_MILLISECONDS = 120_000;

/**
 * Returns the path of Prometheus's promtool: an installed one, or that of Debian's package from the cache, which is
 * unpacked there and not installed, because it would start a server. Returns null where it cannot be had, and says so.
 */
export async function promtoolProgram(what: string): Promise<string | null> {
  const installed = Bun.which("promtool");
  if (installed !== null) return installed;
  try {
    const description = await runCommand(["apt-cache", "show", "--no-all-versions", "prometheus"]);
    const sha256 = /^SHA256: ([0-9a-f]{64})$/m.exec(description)?.[1];
    if (sha256 === undefined) throw new Error("apt knows no package prometheus");
    const directory = await inCache(
      join(defaultCacheRoot(), "promtool", sha256.slice(0, 16)),
      () => {},
      async (work) => {
        await runCommand(["apt-get", "download", "prometheus"], { cwd: work, timeoutMs: DOWNLOAD_MILLISECONDS });
        const [archive = ""] = await Array.fromAsync(new Bun.Glob("*.deb").scan(work));
        await requireDigest(join(work, archive), sha256);
        await runCommand(["dpkg-deb", "--extract", join(work, archive), join(work, "unpacked")]);
        return join(work, "unpacked/usr/bin");
      },
    );
    return join(directory, "promtool");
  } catch (error) {
    console.warn(`SKIPPED: ${what}; promtool, of Debian's prometheus, is missing: ${messageOf(error)}`);
    return null;
  }
}

async function requireDigest(path: string, sha256: string): Promise<void> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk);
  if (hasher.digest("hex") !== sha256) throw new Error("the downloaded package has another digest than apt's list");
}
