import { mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { mirror, securityMirror } from "./debian-packages.ts";
import { exists, inCache } from "./in-cache.ts";
import { digestOf, messageOf, runTool } from "./tools.ts";

/** The archive with a program's original source, of a source package of Debian. */
export interface DebianSource {
  readonly name: string;
  readonly version: string;
  /** Path below `pool/main` of Debian's archive. */
  readonly path: string;
  readonly sha256: string;
}

/** apt's program that downloads a file with apt's configuration (proxies, credentials) and checks its digest. */
const helper = "/usr/lib/apt/apt-helper";

/**
 * Returns the path of a source archive in the cache, and fetches a missing one from the mirror that this machine uses.
 * @throws {Error} when the archive cannot be fetched or is damaged
 */
export async function debianSource(
  source: DebianSource,
  cacheRoot: string,
  log: (line: string) => void,
): Promise<string> {
  const { name, path, sha256 } = source;
  const directory = join(cacheRoot, "sources", sha256);
  const quiet = () => {};
  await inCache(directory, quiet, async (work) => {
    log(`native: fetching the source of ${name}`);
    const output = join(work, "output");
    await mkdir(output);
    await fetchSource(source, join(work, "download"));
    await rename(join(work, "download"), join(output, basename(path)));
    return output;
  });
  const archive = join(directory, basename(path));
  if ((await digestOf(archive).catch(() => null)) === sha256) return archive;
  throw new Error(`${archive} is missing or damaged: remove its directory and run the build again`);
}

async function fetchSource({ name, path, sha256 }: DebianSource, target: string): Promise<void> {
  if (!(await exists(helper))) throw new Error(`this is not a Debian system: ${helper} is missing`);
  const security = await securityMirror();
  const addresses = [`${await mirror()}pool/main/${path}`];
  // Debian's security archive has copies of what it published, also after the main archive has moved on.
  if (security !== null) addresses.push(`${security}pool/updates/main/${path}`);
  const options = ["-o", "APT::Sandbox::User=", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"];
  const failures: string[] = [];
  for (const address of addresses) {
    try {
      await runTool([helper, ...options, "download-file", address, target, `SHA256:${sha256}`], () => {});
      return;
    } catch (error) {
      failures.push(messageOf(error));
    }
  }
  throw new Error(`the source of ${name} cannot be fetched: ${failures.join("; ")}`);
}

/**
 * Unpacks a source archive into a directory. Python reads it, because a machine may lack xz-utils.
 * @returns the archive's top directory
 */
export async function unpackSource(archive: string, into: string): Promise<string> {
  const script = [
    "import sys, tarfile",
    "with tarfile.open(sys.argv[1]) as archive:",
    "    archive.extractall(sys.argv[2])",
    "    print(archive.getnames()[0].split('/')[0])",
  ];
  const top = await runTool(["python3", "-c", script.join("\n"), archive, into], () => {});
  return join(into, top.trim());
}
