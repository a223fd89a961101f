/** A section of CHANGELOG.md about one version. */
interface Section {
  /** e.g. `0.2.0 – 2026-11-22` or `Unreleased` */
  readonly heading: string;
  readonly entries: number;
}

function sectionsOf(changelog: string): Section[] {
  const [, ...sections] = changelog.split(/^## /m);
  return sections.map((text) => ({
    heading: text.split("\n", 1)[0] ?? "",
    entries: text.split("\n").filter((line) => line.startsWith("- ")).length,
  }));
}

/**
 * Checks that the changelog is ready for a version. A dry run accepts the section "Unreleased" in its place.
 * @returns a description of the section
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
