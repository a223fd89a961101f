/** Marks and invisible characters, which belong to a letter next to them, and punctuation around sentences of all scripts. */
const skipped = "[\\p{M}\\p{Default_Ignorable_Code_Point}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\"'…—·]*";
const lastLetter = new RegExp(`.${skipped}$`, "su");
const firstLetter = new RegExp(`^${skipped}.`, "su");

/** Number of UTF-16 units that are examined on each side: a letter with its marks and punctuation. */
const JOINT_UNITS = 80;

/**
 * Returns whether two texts that follow each other meet in letters or punctuation of certain scripts, as texts without
 * spaces between sentences do.
 * @param script matches one character of the scripts
 */
export function meetIn(script: RegExp, before: string, after: string): boolean {
  const last = lastLetter.exec(before.slice(-JOINT_UNITS))?.[0] ?? "";
  const first = firstLetter.exec(after.slice(0, JOINT_UNITS))?.[0] ?? "";
  return script.test(last) && script.test(first);
}
