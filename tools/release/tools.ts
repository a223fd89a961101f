/** A program that a release needs, and Debian's package with it. */
export interface ReleaseTool {
  readonly program: string;
  readonly package: string;
}

/**
 * The programs that a release needs in addition to those of scripts/setup. Without one of them, tests would be skipped.
 * CONTRIBUTING.md has the same packages.
 */
export const RELEASE_TOOLS: readonly ReleaseTool[] = [
  // Packages, and their checks.
  { program: "dpkg-scanpackages", package: "dpkg-dev" },
  { program: "lintian", package: "lintian" },
  { program: "rpmlint", package: "rpmlint" },
  // Debian systems, and network namespaces.
  { program: "debootstrap", package: "debootstrap" },
  { program: "ip", package: "iproute2" },
  { program: "systemd-analyze", package: "systemd" },
  // The container image.
  { program: "podman", package: "podman" },
  { program: "crun", package: "crun" },
  { program: "skopeo", package: "skopeo" },
  // Completion, and programs that read exports.
  { program: "zsh", package: "zsh" },
  { program: "fish", package: "fish" },
  { program: "pdftotext", package: "poppler-utils" },
  // Requests, certificates and traced system calls.
  { program: "curl", package: "curl" },
  { program: "openssl", package: "openssl" },
  { program: "strace", package: "strace" },
];

/**
 * Checks that every program of a release is installed, and that this user may install systems.
 * @returns a description of the result
 * @throws {Error} with the command that installs the missing ones
 */
export function checkTools(isInstalled: (program: string) => boolean, isRoot: boolean): string {
  if (!isRoot) throw new Error("a release needs root, for the tests on minimal Debian systems");
  const missing = RELEASE_TOOLS.filter(({ program }) => !isInstalled(program));
  if (missing.length === 0) return `${RELEASE_TOOLS.length} programs are installed`;
  const names = (key: keyof ReleaseTool) => missing.map((tool) => tool[key]);
  throw new Error(
    `missing: ${names("program").join(", ")}; on Debian: apt-get install --no-install-recommends ${names("package").join(" ")}`,
  );
}
