/**
 * Diarization errors on recordings with references: `scripts/evaluate diarization [--json] [--audio DIRECTORY] [NAME…]`
 * prints a row per file of dialogue/ and totals; NAMEs choose files whose path contains one of them.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { audioDirectory, decode, diarize, openModels } from "../../../test/engine/diarization/recording.ts";
import { addErrors, type DiarizationErrors, diarizationErrors, errorRates } from "../../../test/support/der.ts";
import { type NamedTurn, parseRttm } from "../../../test/support/rttm.ts";

const manifestSchema = Type.Array(
  Type.Object({
    path: Type.String(),
    speakers: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    rttm: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    words_rttm: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
);

interface Result {
  path: string;
  speakers: number;
  found: number;
  errors: DiarizationErrors;
  /** Against the words' times, where they are known: real meetings. */
  wordErrors: DiarizationErrors | undefined;
  seconds: number;
  milliseconds: { detect: number; embed: number; cluster: number };
}

const { values, positionals } = parseArgs({
  options: { json: { type: "boolean", default: false }, audio: { type: "string", default: audioDirectory } },
  allowPositionals: true,
});
const results = await evaluate(values.audio, positionals);
if (values.json) console.log(JSON.stringify({ results, totals: totals(results) }, null, 2));
else print(results);

async function evaluate(audio: string, names: readonly string[]): Promise<Result[]> {
  const manifest = Value.Parse(manifestSchema, await Bun.file(join(audio, "manifest.json")).json());
  const models = await openModels();
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  const all: Result[] = [];
  try {
    for (const entry of manifest) {
      const isChosen = names.length === 0 || names.some((name) => entry.path.includes(name));
      if (!entry.rttm || !isChosen) continue;
      const pcm = await decode(join(audio, entry.path), join(directory, "pcm"));
      const { turns, milliseconds } = await diarize(models, pcm);
      const named = turns.map((turn) => ({ ...turn, speaker: String(turn.speaker) }));
      const reference = async (path: string): Promise<NamedTurn[]> =>
        parseRttm(await Bun.file(join(audio, path)).text());
      all.push({
        path: entry.path,
        speakers: entry.speakers ?? 0,
        found: new Set(named.map((turn) => turn.speaker)).size,
        errors: diarizationErrors(await reference(entry.rttm), named),
        wordErrors: entry.words_rttm ? diarizationErrors(await reference(entry.words_rttm), named) : undefined,
        seconds: pcm.sampleCount / 16_000,
        milliseconds,
      });
    }
  } finally {
    await rm(directory, { recursive: true });
    await models.dispose();
  }
  return all;
}

/** Real meetings are those whose words have times; the rest are built dialogues and the telephone sample. */
function totals(all: readonly Result[]) {
  const built = all.filter((result) => result.wordErrors === undefined);
  const real = all.filter((result) => result.wordErrors !== undefined);
  const rates = (errors: readonly DiarizationErrors[]) => errorRates(addErrors(errors));
  const seconds = all.reduce((sum, result) => sum + result.seconds, 0);
  const cost = (step: keyof Result["milliseconds"]) =>
    all.reduce((sum, result) => sum + result.milliseconds[step], 0) / 1000 / seconds;
  return {
    built: {
      ...rates(built.map((result) => result.errors)),
      countsRight: built.filter(isCountRight).length,
      files: built.length,
    },
    real: {
      ...rates(real.map((result) => result.errors)),
      countsRight: real.filter(isCountRight).length,
      files: real.length,
    },
    realWords: rates(real.flatMap((result) => result.wordErrors ?? [])),
    /** Time taken, as parts of the recordings' duration. */
    cost: { detect: cost("detect"), embed: cost("embed"), cluster: cost("cluster") },
  };
}

function isCountRight(result: Result): boolean {
  return result.speakers === result.found;
}

function print(all: readonly Result[]): void {
  const row = (name: string, counts: string, errors: ReturnType<typeof errorRates>) =>
    [
      name.padEnd(40),
      counts.padStart(7),
      ...[errors.errorRate, errors.falseAlarm, errors.missed, errors.confusion].map(percent),
    ].join(" ");
  console.log(`${"file".padEnd(40)}   given/found     DER   false  missed confused`);
  for (const result of all) {
    console.log(row(result.path, `${result.speakers}/${result.found}`, errorRates(result.errors)));
    if (result.wordErrors) console.log(row("  against the words", "", errorRates(result.wordErrors)));
  }
  const { built, real, realWords, cost } = totals(all);
  console.log(row("built", `${built.countsRight} of ${built.files}`, built));
  console.log(row("real", `${real.countsRight} of ${real.files}`, real));
  console.log(row("real, against the words", "", realWords));
  console.log(
    `cost, of the duration: detect ${percent(cost.detect)} embed ${percent(cost.embed)} cluster ${percent(cost.cluster)}`,
  );
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)}%`.padStart(7);
}
