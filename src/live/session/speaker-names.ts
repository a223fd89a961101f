import { cleanText } from "../../text/index.ts";
import { isVoiceName } from "../../voices/index.ts";
import { LiveError } from "../contract.ts";
import { speakerNumber } from "../store/index.ts";

/** Maximum number of speakers with a name, more than a session distinguishes. */
const MAX_NAMES = 100;

/**
 * Returns the names of speakers with another one; an empty name removes it.
 * @throws {LiveError} `bad_option`
 */
export function withName(
  names: ReadonlyMap<string, string>,
  speaker: string,
  name: string,
): ReadonlyMap<string, string> {
  const changed = new Map(names);
  const clean = cleanText(name);
  if (clean === "") changed.delete(speaker);
  else changed.set(speaker, clean);
  const isValid = speakerNumber(speaker) !== null && (clean === "" || isVoiceName(clean));
  if (isValid && changed.size <= MAX_NAMES) return changed;
  throw new LiveError({ kind: "bad_option", option: "name", reason: "a speaker's name has 1 to 100 characters" });
}
