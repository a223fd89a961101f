import type { Bom } from "../sbom/document.ts";

/** Facts of a package that its control files state. */
export interface PackageFacts {
  /** Version in package.json. */
  readonly version: string;
  /** Debian's name, e.g. `amd64`. */
  readonly architecture: string;
  readonly maintainer: string;
  /** Time of the commit in seconds. Every time in the package is this one. */
  readonly epoch: number;
}

/** Returns Debian's form of a version. A prerelease sorts before its release (Debian Policy 5.6.12). */
export function debianVersion(version: string): string {
  return version.replace("-", "~");
}

/**
 * Returns the control file (Debian Policy 5.3).
 * @param installedBytes size of all files of the package
 */
export function controlFile({ version, architecture, maintainer }: PackageFacts, installedBytes: number): string {
  return `Package: transcribe
Version: ${debianVersion(version)}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(installedBytes / 1024)}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 12), passwd
Suggests: libvulkan1
Section: sound
Priority: optional
Description: self-hosted transcription appliance
 Serves an API that turns recordings into transcripts with speaker labels, on
 this machine and without a network. The package contains speech recognition,
 ffmpeg, the default models and fonts.
`;
}

/** Returns the changelog of the package (Debian Policy 4.4). CHANGELOG.md, which the package contains, has the changes. */
export function debianChangelog({ version, maintainer, epoch }: PackageFacts): string {
  const date = new Date(epoch * 1000).toUTCString().replace("GMT", "+0000");
  return `transcribe (${debianVersion(version)}) unstable; urgency=medium

  * Version ${version}: see /usr/share/doc/transcribe/CHANGELOG.md.gz.

 -- ${maintainer}  ${date}
`;
}

/**
 * Returns the copyright file: the product's licence, and the parts of the program with their licences.
 * @param licence text of the product's own licence
 * @param materials the program's bill of materials
 */
export function copyrightFile(licence: string, { metadata, components }: Bom): string {
  const whole = metadata.component.properties?.find(({ name }) => name === "transcribe:licence-of-the-whole")?.value;
  const lines = components.map(({ name, version = "", licenses = [] }) => {
    const names = licenses.map((each) =>
      "expression" in each ? each.expression : "id" in each.license ? each.license.id : each.license.name,
    );
    return `  ${name} ${version}: ${names.join(", ") || "see its text"}`;
  });
  return `Transcribe, the product's own code:

${licence.trim()}

The program contains parts under other licences. All parts together:

  ${whole ?? "unknown"}

The parts, each with its licence. "transcribe licenses" prints their texts and sources.

${lines.join("\n")}

On Debian systems, the texts of Apache-2.0, GPL-3 and the LGPL are in
/usr/share/common-licenses. ffmpeg, a program of its own, is under
GPL-3.0-or-later: whoever passes this package on also owes its source.
`;
}

/** The settings file in /etc. It is short, so that new defaults cause no question at an upgrade. */
export function settingsConffile(dataDirectory: string, runtimeDirectory: string): string {
  return `# Settings of the service. All settings with their defaults are listed in
# /usr/share/doc/transcribe/examples/transcribe.toml
# After a change: transcribe config check /etc/transcribe/transcribe.toml

[storage]
data_dir = ${JSON.stringify(dataDirectory)}
runtime_dir = ${JSON.stringify(runtimeDirectory)}
`;
}

/** Findings of lintian that are intended, in the form of its overrides. */
export const lintianOverrides = `# The program contains Bun, whose libraries are linked statically, with the data of the program after its end.
transcribe: embedded-library
transcribe: unstripped-binary-or-object
transcribe: hardening-no-pie
transcribe: hardening-no-fortify-functions
# Settings may contain a password of a client.
transcribe: non-standard-file-perm
`;
