import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { type Excerpt, mix, type Reference } from "../corpus/index.ts";
import phrases from "./quick-exchanges.json" with { type: "json" };

const phrasesSchema = Type.Record(
  Type.String(),
  Type.Array(Type.Tuple([Type.String(), Type.Number(), Type.Number(), Type.String()])),
);

/**
 * Phrases of 0.4 to 2 s by speaker: the file that contains the phrase, its first and last moment there in seconds, and
 * its words. Each was cut at two silences next to words that our recognizer and the file's transcript have in common.
 */
type Speaker = keyof typeof phrases;

/**
 * The speakers of each dialogue. Settings may be tuned on the first ten dialogues; the speakers of the other ten are in
 * none of these.
 */
const PLANS: readonly (readonly Speaker[])[] = [
  ["2033", "3331"],
  ["3331", "1688"],
  ["1688", "2033"],
  ["3331", "2033"],
  ["jfk", "3331"],
  ["1688", "3331"],
  ["2033", "1688"],
  ["1688", "jfk"],
  ["2033", "3331", "1688"],
  ["3331", "1688", "2033"],
  ["2414", "3080"],
  ["3080", "1998"],
  ["1998", "2414"],
  ["3080", "2414"],
  ["2412", "3080"],
  ["1998", "3080"],
  ["2414", "1998"],
  ["2414", "2412"],
  ["2414", "3080", "1998"],
  ["3080", "1998", "2414"],
];
const TUNED_PLANS = 10;

/** Maximum number of turns of a dialogue. It ends earlier when a speaker has no phrase left. */
const TURNS = 20;
/** Limits of the time from a turn to the next one, in seconds; it is negative when they overlap. */
const MIN_GAP_SECONDS = -0.2;
const MAX_GAP_SECONDS = 0.5;

/** A phrase at its place in a dialogue. */
interface PlacedPhrase extends Excerpt {
  readonly speaker: Speaker;
  readonly text: string;
}

/**
 * Generates dialogues of quick exchanges in a folder: short turns of two or three speakers, without pauses or with
 * slight overlaps. They are the same in each run.
 */
export async function quickExchanges(
  audio: string,
  directory: string,
  isChosen: (name: string) => boolean,
): Promise<Reference[]> {
  const references: Reference[] = [];
  for (const [index, speakers] of PLANS.entries()) {
    const half = index < TUNED_PLANS ? "tuned" : "apart";
    const name = `exchange/${half}-${String(index + 1).padStart(2, "0")}`;
    if (!isChosen(name)) continue;
    const placed = placePhrases(audio, speakers, randomNumbers(index));
    const file = join(directory, `${name.replace("/", "-")}.flac`);
    await mix(placed, file);
    references.push(referenceOf(name, file, speakers, placed));
  }
  return references;
}

/** Places phrases one after another, each by another speaker than the one before. */
function placePhrases(audio: string, speakers: readonly Speaker[], random: () => number): PlacedPhrase[] {
  const left = Value.Parse(phrasesSchema, structuredClone(phrases));
  const placed: PlacedPhrase[] = [];
  let atSeconds = 0.3;
  while (placed.length < TURNS) {
    const others = speakers.filter((speaker) => speaker !== placed.at(-1)?.speaker);
    const speaker = pick(others, random);
    const own = speaker === undefined ? [] : (left[speaker] ?? []);
    const phrase = pick(own, random);
    if (speaker === undefined || phrase === undefined) break;
    own.splice(own.indexOf(phrase), 1);
    const [file, start, end, text] = phrase;
    placed.push({ file: join(audio, file), startSeconds: start, endSeconds: end, atSeconds, speaker, text });
    atSeconds += end - start + MIN_GAP_SECONDS + random() * (MAX_GAP_SECONDS - MIN_GAP_SECONDS);
  }
  return placed;
}

function pick<T>(all: readonly T[], random: () => number): T | undefined {
  return all[Math.floor(random() * all.length)];
}

function referenceOf(
  path: string,
  file: string,
  speakers: readonly Speaker[],
  placed: readonly PlacedPhrase[],
): Reference {
  const spoken = placed.map(({ atSeconds, startSeconds, endSeconds, speaker, text }) => {
    return { startSeconds: atSeconds, endSeconds: atSeconds + endSeconds - startSeconds, speaker, text };
  });
  return {
    ...{ path, file, group: "exchange", language: "en", speakers: speakers.length },
    durationSeconds: Math.max(...spoken.map(({ endSeconds }) => endSeconds)),
    text: spoken.map(({ text }) => text).join(" "),
    ...{ turns: spoken, wordTurns: null, spoken },
    exact: false,
  };
}
