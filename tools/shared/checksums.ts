import { existsSync } from "node:fs";
import { join } from "node:path";
import { digestFile } from "../../src/program/index.ts";

/**
 * Returns a list of checksums after a program was built: with a new line for it, and without files that are gone or
 * were made from an older build of it.
 */
export function renewChecksums(
  list: string,
  program: { readonly name: string; readonly sha256: string },
  exists: (name: string) => boolean,
): string {
  const own = `${program.sha256}  ${program.name}`;
  const lines = list.split("\n");
  const isSame = lines.includes(own);
  const others = lines.filter((line) => {
    const name = /^[0-9a-f]{64} {2}(\S+)$/.exec(line)?.[1];
    const isStale = !isSame && name?.startsWith(`${program.name}.`) === true;
    return name !== undefined && name !== program.name && !isStale && exists(name);
  });
  return [...others, own].map((line) => `${line}\n`).join("");
}

/** Writes the checksum of a file of `dist` into the list there, and prints the file's size. */
export async function addChecksum(dist: string, script: string, name: string): Promise<void> {
  const path = join(dist, name);
  const sha256 = await digestFile(path, "sha256");
  const sums = join(dist, "SHA256SUMS");
  const known = await Bun.file(sums)
    .text()
    .catch(() => "");
  const list = renewChecksums(known, { name, sha256 }, (file) => existsSync(join(dist, file)));
  await Bun.write(sums, list);
  console.log(`${script}: dist/${name}, ${(Bun.file(path).size / 1e6).toFixed(0)} MB, SHA-256 ${sha256}`);
}
