import { audioDirectory } from "../../../test/speech/diarization/recording.ts";
import { diarizationErrors, errorRates } from "../../../test/support/der.ts";
import type { NamedTurn } from "../../../test/support/rttm.ts";
import { readCommandLine, refuse, requireCorpus } from "./command-line.ts";
import { readCorpus } from "./corpus.ts";
import { type Diarized, diarizationTurns } from "./diarization-turns.ts";
import { type SpeakerResult, summary } from "./measure-speakers.ts";

interface Result extends SpeakerResult, Pick<Diarized, "seconds" | "milliseconds"> {}

const usage = `Diarization errors on recordings with references: scripts/evaluate diarization [OPTION…] [NAME…]
Prints a row per file of dialogue/ and totals; NAMEs choose files whose path contains one of them.

  --json             figures as JSON
  --audio DIRECTORY  another corpus of the same form`;

const { values, names } = readCommandLine(
  process.argv.slice(2),
  { json: { type: "boolean", default: false }, audio: { type: "string", default: audioDirectory } } as const,
  usage,
);
requireCorpus(values.audio);
const corpus = await readCorpus(values.audio);
const chosen = corpus.filter(
  ({ path, turns }) => turns !== null && (names.length === 0 || names.some((name) => path.includes(name))),
);
if (chosen.length === 0) refuse("no recording with turns has such a name", 1);
const results = (await diarizationTurns(chosen)).map(measured);
if (values.json) console.log(JSON.stringify({ results, totals: totals(results) }, null, 2));
else print(results);

function measured({ reference, turns, ...cost }: Diarized): Result {
  const errorsAgainst = (known: readonly NamedTurn[] | null) =>
    known === null ? null : diarizationErrors(known, turns);
  return {
    ...{ path: reference.path, group: reference.group, ...cost },
    speakers: reference.speakers,
    found: new Set(turns.map(({ speaker }) => speaker)).size,
    errors: errorsAgainst(reference.turns),
    wordErrors: errorsAgainst(reference.wordTurns),
  };
}

/** Real meetings are those whose words have times; the rest are built dialogues and the telephone sample. */
function totals(all: readonly Result[]) {
  const real = all.filter(({ group }) => group === "meeting");
  const seconds = all.reduce((sum, result) => sum + result.seconds, 0);
  const cost = (step: keyof Result["milliseconds"]) =>
    all.reduce((sum, result) => sum + result.milliseconds[step], 0) / 1000 / seconds;
  return {
    built: summary(all.filter(({ group }) => group !== "meeting")),
    real: summary(real),
    realWords: summary(real, "wordErrors"),
    /** Time taken, as parts of the recordings' duration. */
    cost: { detect: cost("detect"), embed: cost("embed"), cluster: cost("cluster") },
  };
}

function print(all: readonly Result[]): void {
  const row = (name: string, counts: string, errors: ReturnType<typeof errorRates>) =>
    [
      name.padEnd(40),
      counts.padStart(7),
      ...[errors.errorRate, errors.falseAlarm, errors.missed, errors.confusion].map(percent),
    ].join(" ");
  console.log(`${"file".padEnd(40)}   given/found     DER   false  missed confused`);
  for (const { path, speakers, found, errors, wordErrors } of all) {
    if (errors) console.log(row(path, `${speakers}/${found}`, errorRates(errors)));
    if (wordErrors) console.log(row("  against the words", "", errorRates(wordErrors)));
  }
  const { built, real, realWords, cost } = totals(all);
  if (built.files > 0) console.log(row("built", `${built.countsRight} of ${built.files}`, built));
  if (real.files > 0) {
    console.log(row("real", `${real.countsRight} of ${real.files}`, real));
    console.log(row("real, against the words", "", realWords));
  }
  console.log(
    `cost, of the duration: detect ${percent(cost.detect)} embed ${percent(cost.embed)} cluster ${percent(cost.cluster)}`,
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)}%`.padStart(7);
}
