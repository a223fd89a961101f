import { randomNumbers } from "../../harness/random-numbers.ts";
import { type ProposalLimits, proposalLimits, proposeVoices } from "../../src/voices/index.ts";
import { corpusOption, readSelected } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { percent, total } from "../shared/figures.ts";
import { flag, text, whole } from "../shared/options.ts";
import { asMarkdown, headingOf, writeGenerated } from "../shared/table.ts";
import { type SampledRecording, sampleVoices, sourcesIn, sourcesOf, type VoiceSample } from "./voice-samples.ts";

/** Similarities and margins that are compared. The limits in use are marked. */
const SIMILARITIES = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75];
const MARGINS = [0, 0.1];

/** Normal quantile of a one-sided confidence of 95 %. */
const CONFIDENCE_Z = 1.645;

export const command = defineCommand({
  name: "scripts/evaluate voices",
  about:
    "Measures proposals of voices that are known again. Each recording is compared with one voice of every other " +
    "person, and in half of the trials with voices of its own speakers from other recordings. Each recording is used as " +
    "it is, and once over a telephone line, as Opus of 12 kbit/s, with noise or in a room. Takes about five minutes.",
  options: {
    more: text("DIRECTORY", "also use recordings in DIRECTORY, which has a folder for each person"),
    rounds: whole("trials of each recording with other voices", { fallback: 20 }),
    write: flag("store the table in docs/quality.md"),
    audio: corpusOption,
  },
  async run({ more, rounds, write, audio }) {
    const when = await circumstances(Date.now());
    const { chosen } = await readSelected({ audio, names: [] });
    const say = (name: string) => process.stderr.isTTY && console.error(name);
    const corpus = await sampleVoices(sourcesOf(chosen), say);
    const others = more === null ? [] : await sampleVoices(sourcesIn(more), say);
    const sets: (readonly [name: string, recordings: readonly SampledRecording[]])[] = [["corpus", corpus]];
    if (more !== null) sets.push(["others", others], ["all", [...corpus, ...others]]);
    const lines: string[][] = [];
    const notes: string[] = [];
    for (const [name, recordings] of sets) {
      const trials = trialsOf(recordings, rounds);
      notes.push(`${name}: ${describe(recordings, trials)}`);
      for (const minSimilarity of SIMILARITIES) {
        for (const minMargin of MARGINS)
          lines.push(rowOf(name, trials, { ...proposalLimits, minSimilarity, minMargin }));
      }
    }
    const head = [
      "set",
      "similarity",
      "margin",
      "right",
      "missing or wrong",
      "wrong, of all proposals",
      "people with a wrong one",
    ];
    const table = asMarkdown({ head, lines });
    const printed = [`${headingOf(when)}:`, table, ...notes].join("\n\n");
    console.log(printed);
    if (write) writeGenerated("docs/quality.md", "scripts/evaluate voices --write", printed);
  },
});

/** A recording, and the voices that an account remembers when it arrives. */
interface Trial {
  readonly speakers: readonly VoiceSample[];
  readonly voices: readonly VoiceSample[];
}

const isClear = ({ seconds }: VoiceSample) => seconds >= proposalLimits.minSeconds;

/** Returns the trials of all recordings. They are the same in each run. */
function trialsOf(recordings: readonly SampledRecording[], rounds: number): Trial[] {
  const random = randomNumbers(1);
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const byPerson = Map.groupBy(
    recordings.flatMap(({ samples }) => samples.filter(isClear)),
    ({ person }) => person,
  );
  return recordings.flatMap(({ samples }) => {
    const speakers = samples.filter(isClear);
    if (speakers.length === 0) return [];
    return Array.from({ length: rounds }, (): Trial => {
      const voices = [...byPerson].flatMap(([person, all]) => {
        const own = speakers.filter((speaker) => speaker.person === person);
        if (own.length > 0 && random() < 0.5) return [];
        return pick(all.filter((voice) => speakers.every((speaker) => isComparable(speaker, voice)))) ?? [];
      });
      return { speakers, voices };
    });
  });
}

/** Returns whether two samples are of one person in different recordings and words, or of people who are surely two. */
function isComparable(one: VoiceSample, other: VoiceSample): boolean {
  if (one.source === other.source) return false;
  if (one.person === other.person) return !one.texts.some((words) => other.texts.includes(words));
  return one.kin === null || one.kin !== other.kin;
}

/** Counts the speakers whose voice is among the voices, and the right and wrong proposals. */
function count(trials: readonly Trial[], limits: ProposalLimits) {
  let [known, right, wrong] = [0, 0, 0];
  const wrongPeople = new Set<string>();
  for (const { speakers, voices } of trials) {
    const proposed = proposeVoices(
      speakers.map(({ seconds, embedding }, speaker) => ({ speaker, seconds, embedding })),
      voices.map(({ person, embedding }) => ({ id: person, embedding, isExcluded: false })),
      limits,
    );
    for (const [speaker, { person }] of speakers.entries()) {
      const name = proposed.get(speaker);
      if (voices.some((voice) => voice.person === person)) known += 1;
      if (name === person) right += 1;
      else if (name !== undefined) {
        wrong += 1;
        wrongPeople.add(person);
      }
    }
  }
  return { known, right, wrong, wrongPeople };
}

function rowOf(name: string, trials: readonly Trial[], limits: ProposalLimits): string[] {
  const { known, right, wrong, wrongPeople } = count(trials, limits);
  const { minSimilarity, minMargin } = limits;
  const isInUse = minSimilarity === proposalLimits.minSimilarity && minMargin === proposalLimits.minMargin;
  const people = peopleIn(trials);
  return [
    isInUse ? `${name}, in use` : name,
    ...[minSimilarity.toFixed(2), minMargin.toFixed(1)],
    `${percent(right / known)} (${right} of ${known})`,
    percent(1 - right / known),
    `${percent(wrong / Math.max(1, right + wrong), 2)} (${wrong} of ${right + wrong})`,
    `${wrongPeople.size} of ${people}, at most ${percent(upperBound(wrongPeople.size, people))}`,
  ];
}

function peopleIn(trials: readonly Trial[]): number {
  return new Set(trials.flatMap(({ speakers }) => speakers.map(({ person }) => person))).size;
}

function describe(recordings: readonly SampledRecording[], trials: readonly Trial[]): string {
  const voices = total(trials, (trial) => trial.voices.length) / trials.length;
  const again = new Set(
    trials.flatMap((trial) =>
      trial.speakers.flatMap(({ person }) => (trial.voices.some((voice) => voice.person === person) ? [person] : [])),
    ),
  );
  return (
    `${recordings.length} recordings, ${trials.length} trials with ${voices.toFixed(0)} voices each, ${peopleIn(trials)} ` +
    `people with at least ${proposalLimits.minSeconds} s of clean speech, ${again.size} of whom occur in several recordings.`
  );
}

/** Returns the upper bound of a share with a confidence of 95 % (Wilson's score interval). */
function upperBound(count: number, all: number): number {
  const [z, share] = [CONFIDENCE_Z, count / all];
  const centre = share + z ** 2 / (2 * all);
  const spread = z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  return (centre + spread) / (1 + z ** 2 / all);
}
