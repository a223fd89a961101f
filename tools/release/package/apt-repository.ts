import { link, mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runCommand } from "../../shared/run-command.ts";
import { packTree } from "../container/archives.ts";
import { debianArchitectures } from "./debian-control.ts";
import { type PackageFacts, packageVersion } from "./facts.ts";

/** Name of the tree's top directory, which the documentation and the machine's list of sources use. */
const TOP = "transcribe-apt";
const INDEX = "main/binary";

/**
 * Writes an apt repository with one package as an archive: the same package always gives the same bytes. It has no
 * signature of its own, because the list of checksums is signed, which also covers this archive.
 */
export async function writeAptRepository(archive: string, deb: string, facts: PackageFacts): Promise<void> {
  const tree = await mkdtemp(join(dirname(archive), ".apt-"));
  try {
    const architecture = debianArchitectures[facts.architecture];
    const name = `transcribe_${packageVersion(facts.version)}_${architecture}.deb`;
    const pool = `pool/main/t/transcribe/${name}`;
    const indexes = `${INDEX}-${architecture}`;
    const top = join(tree, TOP);
    const suite = join(top, "dists/stable");
    await mkdir(join(top, dirname(pool)), { recursive: true });
    await mkdir(join(suite, indexes), { recursive: true });
    // A link, because a copy would take the space of the package once more.
    await link(deb, join(top, pool));
    const packages = await runCommand(["dpkg-scanpackages", "--arch", architecture, "pool"], { cwd: top });
    const files = new Map([
      [`${indexes}/Packages`, Buffer.from(packages)],
      [`${indexes}/Packages.gz`, Buffer.from(Bun.gzipSync(Buffer.from(packages)))],
    ]);
    for (const [path, content] of files) await Bun.write(join(suite, path), content);
    await Bun.write(join(suite, "Release"), releaseFile(facts, files));
    await packTree(archive, tree);
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

/** Returns the Release file, with the digests of the indexes. */
function releaseFile({ architecture, epoch }: PackageFacts, files: ReadonlyMap<string, Buffer>): string {
  const lines = [...files].map(([path, content]) => {
    const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
    return ` ${sha256} ${content.length} ${path}`;
  });
  return `Origin: Transcribe
Label: Transcribe
Suite: stable
Codename: stable
Date: ${new Date(epoch * 1000).toUTCString().replace("GMT", "+0000")}
Architectures: ${debianArchitectures[architecture]}
Components: main
Description: Transcribe for machines without a network
SHA256:
${lines.join("\n")}
`;
}
