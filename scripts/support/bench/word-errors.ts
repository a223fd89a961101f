import { countErrors } from "../../../test/support/wer.ts";
import { type Rate, unitsOf } from "../evaluate/measure-words.ts";
import { Scorer } from "../evaluate/scorer.ts";
import type { Run } from "./competitor.ts";
import type { BenchRecording, RecordingName } from "./recordings.ts";

const language = "en";

/**
 * What counts the errors of what was heard, both sides normalised as in scripts/evaluate.
 * @throws {CommandError} where the normaliser can't be had
 */
export async function wordErrorsOf(recordings: readonly BenchRecording[], runs: readonly Run[]) {
  const said = new Map(recordings.map(({ name, text }) => [name, text]));
  const heard = runs.filter(({ recording }) => said.get(recording) !== null).flatMap(({ figures }) => figures.texts);
  if (heard.length === 0) return () => null;
  const scorer = await Scorer.install();
  const normalise = await scorer.normalise(
    [...said.values(), ...heard].filter((text) => typeof text === "string").map((text) => [language, text] as const),
  );
  const counted = new Map<string, Rate>();
  return (recording: RecordingName, text: string): Rate | null => {
    const reference = said.get(recording) ?? null;
    if (reference === null) return null;
    const key = `${recording} ${text}`;
    const known = counted.get(key);
    if (known !== undefined) return known;
    const count = countErrors(
      ...([reference, text].map((one) => unitsOf(normalise, language, one)) as [string[], string[]]),
    );
    const { substitutions, deletions, insertions, length } = count;
    const rate = { errors: substitutions + deletions + insertions, length };
    counted.set(key, rate);
    return rate;
  };
}
