import type { Bom } from "../../build/sbom/document.ts";
import {
  FFMPEG_NOTICE,
  licencesOfParts,
  PACKAGE_DESCRIPTION,
  PACKAGE_SUMMARY,
  type PackageFacts,
  packageVersion,
} from "./facts.ts";

/** Debian's names of architectures. */
export const debianArchitectures = { x64: "amd64", arm64: "arm64" } as const;

/**
 * Returns the control file (Debian Policy 5.3).
 * @param installedBytes size of all files of the package
 */
export function controlFile({ version, architecture, maintainer }: PackageFacts, installedBytes: number): string {
  return `Package: transcribe
Version: ${packageVersion(version)}
Architecture: ${debianArchitectures[architecture]}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(installedBytes / 1024)}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 12), passwd
Suggests: libvulkan1
Section: sound
Priority: optional
Description: ${PACKAGE_SUMMARY}
${PACKAGE_DESCRIPTION.map((line) => ` ${line}\n`).join("")}`;
}

/** Returns the changelog of the package (Debian Policy 4.4). CHANGELOG.md, which the package contains, has the changes. */
export function debianChangelog({ version, maintainer, epoch }: PackageFacts): string {
  const date = new Date(epoch * 1000).toUTCString().replace("GMT", "+0000");
  return `transcribe (${packageVersion(version)}) unstable; urgency=medium

  * Version ${version}: see /usr/share/doc/transcribe/CHANGELOG.md.gz.

 -- ${maintainer}  ${date}
`;
}

/**
 * Returns the copyright file: the product's licence, and the parts of the program with their licences.
 * @param licence text of the product's own licence
 * @param materials the program's bill of materials
 */
export function copyrightFile(licence: string, materials: Bom): string {
  return `Transcribe, the product's own code:

${licence.trim()}

${licencesOfParts(materials)}
On Debian systems, the texts of Apache-2.0 and the LGPL are in
/usr/share/common-licenses. ${FFMPEG_NOTICE}`;
}

/** Findings of lintian that are intended, in the form of its overrides. */
export const lintianOverrides = `# The program starts with a static launcher, which lintian takes for a library because it is independent of its position.
transcribe: shared-library-lacks-prerequisites
# Settings may contain a password of a client.
transcribe: non-standard-file-perm
# Another program of this name may precede it in the search path: the one of "transcribe service install".
transcribe: command-with-path-in-maintainer-script
`;
