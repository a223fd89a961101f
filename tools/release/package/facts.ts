import type { Bom } from "../../build/sbom/document.ts";

/** Facts of a release that every package states. */
export interface PackageFacts {
  /** Version in package.json. */
  readonly version: string;
  /** By Node's name. */
  readonly architecture: "x64" | "arm64";
  /** Name and mail address of the package's maintainer. */
  readonly maintainer: string;
  /** Time of the commit in seconds. Every time in the package is this one. */
  readonly epoch: number;
}

export interface PackagedProgram {
  readonly path: string;
  readonly materials: Bom;
}

export interface PackageFile {
  /** Absolute path on the machine. */
  readonly path: string;
  /** Permissions, e.g. `0o644`. */
  readonly mode: number;
  readonly kind: "plain" | "settings" | "documentation" | "licence";
  readonly content: Blob;
}

/** Returns a file that everybody may read. */
export function readableFile(path: string, content: string | Uint8Array, kind: PackageFile["kind"]): PackageFile {
  return { path, mode: 0o644, kind, content: new Blob([new Uint8Array(Buffer.from(content))]) };
}

/**
 * Returns a version as dpkg and rpm compare it. A prerelease sorts before its release (Debian Policy 5.6.12; RPM's
 * manual, "Dependencies").
 */
export function packageVersion(version: string): string {
  return version.replace("-", "~");
}

/** Summary of the package in one line. */
export const PACKAGE_SUMMARY = "self-hosted transcription appliance";

/** Description of the package, in lines of at most 79 characters. */
export const PACKAGE_DESCRIPTION = [
  "Serves an API that turns recordings into transcripts with speaker labels, on",
  "this machine and without a network. The package contains speech recognition,",
  "ffmpeg, the default models and fonts.",
] as const;

/** Returns the licence of all parts together, as an SPDX expression. @throws {Error} if the bill has none */
export function licenceOfWhole({ metadata }: Bom): string {
  const whole = metadata.component.properties?.find(({ name }) => name === "transcribe:licence-of-the-whole")?.value;
  if (whole === undefined) throw new Error("the bill of materials has no licence of the whole");
  return whole;
}

/** Returns a text with the licence of the whole and the licence of each part. */
export function licencesOfParts(materials: Bom): string {
  const lines = materials.components.map(({ name, version = "", licenses = [] }) => {
    const names = licenses.map((each) =>
      "expression" in each ? each.expression : "id" in each.license ? each.license.id : each.license.name,
    );
    return `  ${name} ${version}: ${names.join(", ") || "see its text"}`;
  });
  return `The program contains parts under other licences. All parts together:

  ${licenceOfWhole(materials)}

The parts, each with its licence. "transcribe licenses" prints their texts and sources.

${lines.join("\n")}
`;
}

/** States the duty of everybody who distributes a package. */
export const FFMPEG_NOTICE = `ffmpeg, a program of its own, is under
LGPL-2.1-or-later: whoever passes this package on also owes its source,
which is in the release's file .ffmpeg-source.tar.
`;
