import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { migrationNames } from "../../src/database/migrate.ts";
import { markedDescription } from "../../src/verification/program-file.ts";
import { controlFile, packPackage } from "../../tools/release/package/debian-package.ts";
import type { PackageFacts } from "../../tools/release/package/facts.ts";

export const platform = `${process.platform}-${process.arch}`;
const elfMachines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };

/** Returns a file with an ELF header and a description, as a program has them. */
export function programFile(
  changes: Record<string, unknown> = {},
  { architecture = process.arch as string, bytesBefore = 100 } = {},
): Buffer {
  const header = Buffer.alloc(64);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  header.writeUInt16LE(elfMachines[architecture] ?? 0, 18);
  const description = { version: "99.0.0", commit: "a".repeat(40), target: platform, migrations: [...migrationNames] };
  return Buffer.concat([
    header,
    Buffer.alloc(bytesBefore),
    Buffer.from(markedDescription({ ...description, ...changes })),
    Buffer.alloc(100),
  ]);
}

export const packageFacts: PackageFacts = {
  version: "99.0.0",
  architecture: "x64",
  maintainer: "A <a@example.org>",
  epoch: 1_800_000_000,
};

/** Packs files as a Debian package. @param tree the package's directory, which this creates */
export async function packFiles(tree: string, files: Readonly<Record<string, Buffer>>): Promise<string> {
  const all = { ...files, "DEBIAN/control": Buffer.from(controlFile(packageFacts, 1)) };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(tree, path), content, { mode: 0o644 });
  }
  await packPackage(tree, `${tree}.deb`, packageFacts);
  return `${tree}.deb`;
}
