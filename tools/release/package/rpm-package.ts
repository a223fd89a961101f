import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultConfigFile, defaultUser } from "../../../src/install/layout.ts";
import type { Bom } from "../../build/sbom/document.ts";
import { root } from "../../shared/checkout.ts";
import {
  FFMPEG_NOTICE,
  licenceOfWhole,
  licencesOfParts,
  PACKAGE_DESCRIPTION,
  PACKAGE_SUMMARY,
  type PackagedProgram,
  type PackageFacts,
  type PackageFile,
  packageVersion,
  readableFile,
} from "./facts.ts";
import { fileFlags, type OwnedFile, type Relation, type RpmMetadata, relationFlags, writeRpm } from "./rpm-file.ts";
import { DOCUMENTS, sharedFiles } from "./shared-files.ts";

const NAME = "transcribe";
const RELEASE = "1";
/** rpm's names of architectures, and those in the names of packages for one of them. */
const rpmArchitectures = {
  x64: { architecture: "x86_64", mark: "x86-64" },
  arm64: { architecture: "aarch64", mark: "aarch-64" },
} as const;

/**
 * Libraries with the newest version of their symbols that the program and its native parts use: GNU's C library 2.34,
 * and the libraries of GCC 12. dpkg's names of the same are in debian-package.ts.
 */
const libraries = ["libc.so.6(GLIBC_2.34)", "libgcc_s.so.1(GCC_4.2.0)", "libstdc++.so.6(GLIBCXX_3.4.30)"];

/** Features of rpm that the package uses, with the version of rpm that has them first. */
const rpmFeatures = [
  ["CompressedFileNames", "3.0.4-1"],
  ["FileDigests", "4.6.0-1"],
  ["PayloadFilesHavePrefix", "4.0-1"],
  ["RichDependencies", "4.12.0-1"],
] as const;

/** Returns what the RPM package says of itself. @throws {Error} for a version that rpm can't compare */
export function rpmMetadata(facts: PackageFacts, materials: Bom): RpmMetadata {
  const version = packageVersion(facts.version);
  if (!/^[\w.+~^]+$/.test(version)) throw new Error(`rpm has no form of the version ${facts.version}`);
  const { architecture, mark } = rpmArchitectures[facts.architecture];
  const script = (name: string) => readFileSync(join(root, "deploy/rpm", name), "utf8");
  return {
    name: NAME,
    version,
    release: RELEASE,
    architecture,
    // Unlike Debian's, a summary for rpm begins with a capital letter.
    summary: `${PACKAGE_SUMMARY.charAt(0).toUpperCase()}${PACKAGE_SUMMARY.slice(1)}`,
    description: PACKAGE_DESCRIPTION.join("\n"),
    licence: licenceOfWhole(materials),
    packager: facts.maintainer,
    epoch: facts.epoch,
    change: `Version ${facts.version}: see /usr/share/doc/transcribe/CHANGELOG.md.gz.`,
    provides: [NAME, `${NAME}(${mark})`].map((name) => ({
      name,
      flags: relationFlags.equal,
      version: `${version}-${RELEASE}`,
    })),
    requires: requirements(version),
    // The library of GPUs, by which Fedora's and openSUSE's packages with different names are found.
    suggests: [any("libvulkan.so.1()(64bit)")],
    scripts: { pre: script("pre"), post: script("post"), preun: script("preun"), postun: script("postun") },
  };
}

function requirements(version: string): Relation[] {
  const { interpreter, pre, post, preun, postun, library, less, equal, rpmlib } = relationFlags;
  // Only rpm 4.10 and later sort a prerelease before its release.
  const features = version.includes("~") ? [...rpmFeatures, ["TildeInVersions", "4.10.0-1"] as const] : rpmFeatures;
  return [
    ...[pre, post, preun, postun].map((step) => any("/bin/sh", interpreter | step)),
    // The package with useradd, by Fedora's and openSUSE's name.
    any("(shadow-utils or shadow)", pre),
    ...libraries.map((name) => any(`${name}(64bit)`, library)),
    ...features.map(([name, first]) => ({ name: `rpmlib(${name})`, flags: rpmlib | less | equal, version: first })),
  ];
}

/** Returns a relation to any version. */
function any(name: string, flags = 0): Relation {
  return { name, flags, version: "" };
}

const LICENCES = "/usr/share/licenses/transcribe";
/** Types of files in stat(2). */
const [REGULAR_FILE, DIRECTORY] = [0o100000, 0o040000];

/** Writes the RPM package: the same program and facts always give the same bytes. */
export async function writeRpmPackage(target: string, facts: PackageFacts, program: PackagedProgram): Promise<void> {
  const files = [...sharedFiles(facts, program, "/usr/share/zsh/site-functions"), ...licenceFiles(program)];
  await writeRpm(target, rpmMetadata(facts, program.materials), [...ownDirectories(files), ...files.map(ownedFile)]);
}

function licenceFiles({ materials }: PackagedProgram): PackageFile[] {
  const parts = `${licencesOfParts(materials)}\n${FFMPEG_NOTICE}`;
  return [
    readableFile(`${LICENCES}/LICENSE`, readFileSync(join(root, "LICENSE")), "licence"),
    readableFile(`${LICENCES}/LICENSES-OF-PARTS`, parts, "licence"),
  ];
}

/** Attributes of the kinds of files. rpm replaces no settings file that was changed, and stores the new one next to it. */
const kindFlags = {
  plain: 0,
  settings: fileFlags.config | fileFlags.noReplace,
  documentation: fileFlags.documentation,
  licence: fileFlags.licence,
} as const satisfies Record<PackageFile["kind"], number>;

function ownedFile({ path, mode, kind, content }: PackageFile): OwnedFile {
  // The script before the installation creates the group.
  const group = kind === "settings" ? defaultUser : "root";
  return { path, mode: REGULAR_FILE | mode, content, flags: kindFlags[kind], group };
}

/** Returns the directories that only this package has. A removal deletes them if they are empty. */
function ownDirectories(files: readonly PackageFile[]): OwnedFile[] {
  const tops = [DOCUMENTS, LICENCES, dirname(defaultConfigFile)];
  const isOwn = (path: string) => tops.some((top) => path === top || path.startsWith(`${top}/`));
  const found = new Set(tops);
  for (const { path } of files) {
    for (let directory = dirname(path); isOwn(directory); directory = dirname(directory)) found.add(directory);
  }
  return [...found].map((path) => ({ path, mode: DIRECTORY | 0o755, content: null, flags: 0, group: "root" }));
}
