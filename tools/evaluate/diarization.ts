import { diarizationErrors, errorRates } from "../../harness/der.ts";
import { corpusOption, type Reference, readSelected } from "../corpus/index.ts";
import { defineCommand } from "../shared/command.ts";
import { percent, total } from "../shared/figures.ts";
import { flag } from "../shared/options.ts";
import { asText } from "../shared/table.ts";
import { type Diarized, diarizationTurns, type SpeakerResult, speakerResult, summarize } from "./speakers.ts";

interface Result extends SpeakerResult, Pick<Diarized, "seconds" | "milliseconds"> {}

export const command = defineCommand({
  name: "scripts/evaluate diarization",
  about:
    "Measures diarization errors on recordings with references. Prints a row for each file of dialogue/, and totals. A " +
    "NAME selects the files whose path contains it.",
  names: "NAME",
  options: {
    countGiven: flag("give the number of speakers to the diarization, like the hint of a create"),
    json: flag("print the figures as JSON"),
    audio: corpusOption,
  },
  async run({ countGiven, json, audio }, names) {
    const hasTurns = ({ turns }: Reference) => turns !== null;
    const { chosen } = await readSelected({ audio, names }, "recording with turns", hasTurns);
    const diarized = await diarizationTurns(chosen, countGiven);
    const results = diarized.map(({ seconds, milliseconds, ...found }): Result => {
      return { ...speakerResult(found, diarizationErrors), seconds, milliseconds };
    });
    if (json) console.log(JSON.stringify({ results, totals: totals(results) }, null, 2));
    else print(results);
  },
});

/** Real meetings have times of words; all others are built dialogues and the telephone sample. */
function totals(all: readonly Result[]) {
  const real = all.filter(({ group }) => group === "meeting");
  const seconds = total(all, (result) => result.seconds);
  const cost = (step: keyof Result["milliseconds"]) => total(all, (one) => one.milliseconds[step]) / 1000 / seconds;
  return {
    built: summarize(all.filter(({ group }) => group !== "meeting")),
    real: summarize(real),
    realWords: summarize(real, "wordErrors"),
    /** Time relative to the length of the recordings. */
    cost: { detect: cost("detect"), embed: cost("embed"), cluster: cost("cluster") },
  };
}

function print(all: readonly Result[]): void {
  const row = (name: string, counts: string, errors: ReturnType<typeof errorRates>) => {
    const rates = [errors.errorRate, errors.falseAlarm, errors.missed, errors.confusion];
    return [name, counts, ...rates.map((rate) => percent(rate, 2))];
  };
  const { built, real, realWords, cost } = totals(all);
  const lines = all.flatMap(({ path, speakers, found, errors, wordErrors }) => [
    ...(errors === null ? [] : [row(path, `${speakers}/${found}`, errorRates(errors))]),
    ...(wordErrors === null ? [] : [row("  against the words", "", errorRates(wordErrors))]),
  ]);
  if (built.files > 0) lines.push(row("built", `${built.countsRight} of ${built.files}`, built));
  if (real.files > 0) {
    lines.push(row("real", `${real.countsRight} of ${real.files}`, real));
    lines.push(row("real, against the words", "", realWords));
  }
  console.log(asText({ head: ["file", "given/found", "DER", "false", "missed", "confused"], lines }));
  const shares = Object.entries(cost).map(([step, share]) => `${step} ${percent(share, 2)}`);
  console.log(`cost, of the duration: ${shares.join(", ")}`);
}
