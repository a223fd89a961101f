/**
 * The programs that a release needs in addition to those of scripts/setup, with Debian's packages of them. Without one
 * of them, tests would be skipped. CONTRIBUTING.md has the same packages.
 */
export const RELEASE_TOOLS = {
  // Packages, and their checks.
  "dpkg-scanpackages": "dpkg-dev",
  lintian: "lintian",
  rpmlint: "rpmlint",
  // Debian systems, and network namespaces.
  debootstrap: "debootstrap",
  ip: "iproute2",
  "systemd-analyze": "systemd",
  // The container image.
  podman: "podman",
  crun: "crun",
  skopeo: "skopeo",
  // Completion, and programs that read exports.
  zsh: "zsh",
  fish: "fish",
  pdftotext: "poppler-utils",
  // Requests, certificates and traced system calls.
  curl: "curl",
  openssl: "openssl",
  strace: "strace",
} as const satisfies Record<string, string>;

/**
 * Checks that every program of a release is installed, and that this user may install systems.
 * @throws {Error} with the command that installs the missing ones
 */
export function checkTools(isInstalled: (program: string) => boolean, isRoot: boolean): string {
  if (!isRoot) throw new Error("a release needs root, for the tests on minimal Debian systems");
  const tools = Object.entries(RELEASE_TOOLS);
  const missing = tools.filter(([program]) => !isInstalled(program));
  if (missing.length === 0) return `${tools.length} programs are installed`;
  const [programs, packages] = [0, 1].map((column) => missing.map((tool) => tool[column] ?? ""));
  throw new Error(
    `missing: ${programs?.join(", ")}; on Debian: apt-get install --no-install-recommends ${packages?.join(" ")}`,
  );
}

/** Returns the headings, e.g. `0.2.0 – 2026-11-22` or `Unreleased`, and the numbers of entries. */
function sectionsOf(changelog: string) {
  const [, ...sections] = changelog.split(/^## /m);
  return sections.map((text) => ({
    heading: text.split("\n", 1)[0] ?? "",
    entries: text.split("\n").filter((line) => line.startsWith("- ")).length,
  }));
}

/**
 * Checks that the changelog is ready for a version. A dry run accepts the section "Unreleased" in its place.
 * @throws {Error} with what to change
 */
export function checkChangelog(changelog: string, version: string, dryRun: boolean): string {
  const sections = sectionsOf(changelog);
  const dated = sections.find(({ heading }) => heading.startsWith(`${version} – `));
  const unreleased = sections.find(({ heading }) => heading === "Unreleased");
  const section = dated ?? (dryRun ? unreleased : undefined);
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section "${version} – DATE"; give "Unreleased" this heading`);
  }
  if (section.entries === 0) throw new Error(`the section "${section.heading}" of CHANGELOG.md has no entry`);
  if (dated !== undefined && !/ – \d{4}-\d{2}-\d{2}$/.test(dated.heading)) {
    throw new Error(`the section "${dated.heading}" of CHANGELOG.md has no date like 2026-12-31`);
  }
  if (dated !== undefined && (unreleased?.entries ?? 0) > 0) {
    throw new Error(`CHANGELOG.md has entries under "Unreleased"; move them to "${dated.heading}"`);
  }
  const earlier = sections.flatMap(({ heading }) => /^(\d+\.\d+\.\d+) – /.exec(heading)?.[1] ?? []);
  const newer = earlier.find((each) => each !== version && Bun.semver.order(each, version) > 0);
  if (newer !== undefined) throw new Error(`CHANGELOG.md has the newer version ${newer}; change package.json`);
  return `${section.heading}, ${section.entries} entries`;
}
