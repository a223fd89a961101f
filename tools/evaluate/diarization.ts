import { diarizationErrors, errorRates } from "../../harness/der.ts";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { readCommandLine, refuse, requireCorpus } from "./command-line.ts";
import { readCorpus } from "./corpus.ts";
import { type Diarized, diarizationTurns, type SpeakerResult, summarize } from "./measure-speakers.ts";

interface Result extends SpeakerResult, Pick<Diarized, "seconds" | "milliseconds"> {}

const usage = `Measures diarization errors on recordings with references: scripts/evaluate diarization [OPTION…] [NAME…]
Prints a row for each file of dialogue/, and totals. A NAME selects the files whose path contains it.

  --count-given      give the number of speakers to the diarization, like the hint of a create
  --json             print the figures as JSON
  --audio DIRECTORY  use another corpus in the same format`;

const { values, names } = readCommandLine(
  process.argv.slice(2),
  {
    "count-given": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    audio: { type: "string", default: audioDirectory },
  } as const,
  usage,
);
requireCorpus(values.audio);
const corpus = await readCorpus(values.audio);
const chosen = corpus.filter(
  ({ path, turns }) => turns !== null && (names.length === 0 || names.some((name) => path.includes(name))),
);
if (chosen.length === 0) refuse("no recording with turns has such a name", 1);
const results = (await diarizationTurns(chosen, values["count-given"])).map(measured);
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

/** Real meetings have times of words; all others are built dialogues and the telephone sample. */
function totals(all: readonly Result[]) {
  const real = all.filter(({ group }) => group === "meeting");
  const seconds = all.reduce((sum, result) => sum + result.seconds, 0);
  const cost = (step: keyof Result["milliseconds"]) =>
    all.reduce((sum, result) => sum + result.milliseconds[step], 0) / 1000 / seconds;
  return {
    built: summarize(all.filter(({ group }) => group !== "meeting")),
    real: summarize(real),
    realWords: summarize(real, "wordErrors"),
    /** Time relative to the length of the recordings. */
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
