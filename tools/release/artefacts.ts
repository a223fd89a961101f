import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { digestFile } from "../../src/program/index.ts";

export interface Artefact {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

const listLine = /^([0-9a-f]{64}) {2}(\S+)$/;

/**
 * Returns the files in the list of checksums of `dist`, after a comparison with the files themselves.
 * @throws {Error} when a file is missing, has another checksum, or a line of the list is damaged
 */
export async function readArtefacts(dist: string): Promise<Artefact[]> {
  const list = await Bun.file(join(dist, "SHA256SUMS")).text();
  const artefacts: Artefact[] = [];
  for (const line of list.trim().split("\n")) {
    const [, sha256 = "", name = ""] = listLine.exec(line) ?? [];
    if (name === "") throw new Error(`dist/SHA256SUMS has the damaged line ${JSON.stringify(line)}`);
    if (!existsSync(join(dist, name))) throw new Error(`dist/${name} is in SHA256SUMS, but missing`);
    const found = await digestFile(join(dist, name), "sha256");
    if (found !== sha256) throw new Error(`dist/${name} has the SHA-256 ${found}; SHA256SUMS has ${sha256}`);
    artefacts.push({ name, sha256, bytes: statSync(join(dist, name)).size });
  }
  return artefacts.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the names of files in `dist` that are not handed over: intermediate ones. */
export function otherFiles(dist: string, artefacts: readonly Artefact[]): string[] {
  const known = new Set([...artefacts.map(({ name }) => name.split("/")[0]), "SHA256SUMS", "SHA256SUMS.minisig"]);
  return readdirSync(dist).filter((name) => !known.has(name));
}

/** Compares two builds of the same commit. @throws {Error} with the files that differ */
export function requireSame(one: readonly Artefact[], other: readonly Artefact[]): void {
  const digests = new Map(other.map(({ name, sha256 }) => [name, sha256]));
  const differing = one.filter(({ name, sha256 }) => digests.get(name) !== sha256).map(({ name }) => name);
  const extra = other.filter(({ name }) => !one.some((each) => each.name === name)).map(({ name }) => name);
  if (differing.length + extra.length > 0) {
    throw new Error(`two builds of the same commit differ: ${[...differing, ...extra].join(", ")}`);
  }
}
