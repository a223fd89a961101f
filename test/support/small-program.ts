import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bom } from "../../tools/build/sbom/document.ts";
import type { PackagedProgram, PackageFacts } from "../../tools/release/package/facts.ts";

/** Facts of a prerelease, so that its version needs the form of the package's format. */
export const packageFacts: PackageFacts = {
  ...{ version: "1.2.3-rc.1", architecture: "x64" },
  ...{ maintainer: "A <a@example.org>", epoch: 1_800_000_000 },
};

const component = { type: "application", "bom-ref": "transcribe", name: "transcribe", version: "1.2.3" } as const;

export const packageMaterials: Bom = {
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  serialNumber: "urn:uuid:00000000-0000-0000-0000-000000000000",
  version: 1,
  metadata: {
    component: { ...component, properties: [{ name: "transcribe:licence-of-the-whole", value: "MIT AND Zlib" }] },
  },
  components: [{ ...component, "bom-ref": "zlib", name: "zlib", licenses: [{ license: { id: "Zlib" } }] }],
  dependencies: [],
  compositions: [],
};

/** Writes a small stand-in for the program into a directory of its own. Its time and mode must not reach a package. */
export function smallProgram(parent: string, name: string): PackagedProgram {
  const directory = join(parent, name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, "program");
  writeFileSync(path, "a program", { mode: 0o700 });
  utimesSync(path, name.length, name.length);
  return { path, materials: packageMaterials };
}
