import { type Bom, type Component, checkBom, writeBom } from "./document.ts";
import { licensed, licensedAs } from "./licences.ts";

/** A package of the build machine's Debian of which the image has files. */
export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  /** Debian's name, e.g. `amd64`. */
  readonly architecture: string;
}

/** SPDX expressions of packages whose copyright file was read. */
const systemLicences: Readonly<Record<string, string>> = {
  libc6: "LGPL-2.1-or-later",
  dash: "BSD-3-Clause",
  "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
  "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
  libvulkan1: "Apache-2.0 AND MIT",
  zlib1g: "Zlib",
};

/**
 * Returns the bill of materials of an image: that of the program, and the packages of the system in it.
 * @param layer digest of the image's highest layer
 * @param distribution e.g. `debian-12`
 */
export function imageSbom(
  program: Bom,
  layer: string,
  packages: readonly SystemPackage[],
  distribution: string,
  more: readonly Component[] = [],
): string {
  const { component: application, timestamp } = program.metadata;
  const system = packages.map((each) => systemComponent(each, distribution));
  const product: Component = {
    type: "container",
    "bom-ref": "image",
    name: "transcribe-image",
    ...(application.version === undefined ? {} : { version: application.version }),
    hashes: [{ alg: "SHA-256", content: layer }],
    licenses: licensed("MIT"),
  };
  const dependencies = new Map(program.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn] as const));
  dependencies.set(
    product["bom-ref"],
    [application, ...system, ...more].map((component) => component["bom-ref"]),
  );
  return writeBom({
    timestamp,
    product,
    components: [application, ...program.components, ...system, ...more],
    dependencies,
    incomplete: program.compositions.flatMap(({ assemblies }) => assemblies),
  });
}

function systemComponent({ name, version, architecture }: SystemPackage, distribution: string): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${distribution}`;
  const licence = systemLicences[name];
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    licenses:
      licence === undefined ? licensedAs(`see /usr/share/doc/${name}/copyright in the image`) : licensed(licence),
    purl,
  };
}

/** Reads the bill of materials that scripts/build wrote. @throws {Error} when it is missing or invalid */
export async function readSbom(path: string): Promise<Bom> {
  const file = Bun.file(path);
  if (!(await file.exists())) throw new Error(`${path} is missing; run scripts/build`);
  return checkBom(await file.json());
}
