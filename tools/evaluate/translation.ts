import { availableParallelism } from "node:os";
import { cpuSettings } from "../../harness/device.ts";
import {
  corpusOption,
  fasterWhisperVersion,
  installBleu,
  installFasterWhisper,
  type Reference,
  readSelected,
} from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, cpuTerms, fasterWhisperSettings } from "../shared/cpu-variant.ts";
import { flag, text, UsageError } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { asMarkdown, headingOf, writeGenerated } from "../shared/table.ts";
import { EvaluationServer } from "./server.ts";
// English translations of the corpus's transcripts, by the path of the recording. They were written for this project:
// the corpus has none.
import english from "./translations.json";

/** A recording and its translations. */
interface Translated {
  readonly path: string;
  readonly language: string;
  readonly reference: string;
  readonly ours: string;
  readonly theirs: string;
}

export const command = defineCommand({
  name: "scripts/evaluate translation",
  about:
    "Translates the recordings of other languages than English with our default model, and with the same weights in " +
    "faster-whisper, each with a beam of 5 and language detection. Compares both with English references (BLEU and chrF " +
    "by sacreBLEU), and with each other. A NAME selects the recordings whose path contains it.",
  names: "NAME",
  options: {
    details: flag("print the translations of each recording before the table"),
    json: text("FILE", "write all translations to FILE"),
    write: flag("store the table in docs/quality.md"),
    cpu: cpuOption,
    audio: corpusOption,
  },
  async run({ details, json, write, cpu, audio }, names) {
    if (write && names.length > 0) throw new UsageError("--write stores the whole table and needs all recordings");
    const { corpus, chosen } = await readSelected({ audio, names });
    const references = chosen.filter(({ path }) => referenceOf(path) !== undefined);
    if (references.length === 0) throw new CommandError("the selection has no recording with a translation");
    const when = await circumstances(Date.now());
    const score = await installBleu();
    const theirs = await translateWithPeer(references, cpu);
    const ours = await translateAll(corpus, references, await cpuSettings(cpu));
    const translated = references.map(
      ({ path, language }, index): Translated => ({
        ...{ path, language, reference: referenceOf(path) ?? "" },
        ...{ ours: ours[index] ?? "", theirs: theirs[index] ?? "" },
      }),
    );
    if (details) for (const one of translated) console.log(detailsOf(one));
    if (json !== null) await Bun.write(json, `${JSON.stringify({ ...when, cpu, translated }, null, 2)}\n`);
    const table = await tableOf(score, translated);
    for (const term of cpuTerms(cpu)) console.log(term);
    console.log(table);
    const heading = headingOf(when, ...cpuTerms(cpu));
    if (write) writeGenerated("docs/quality.md", "scripts/evaluate translation --write", `${heading}:\n\n${table}`);
  },
});

function referenceOf(path: string): string | undefined {
  const known: Readonly<Record<string, string>> = english;
  // The repository stores some recordings in another format than the corpus from which they come.
  return known[path] ?? known[path.replace(/\.\w+$/, ".flac")];
}

async function translateAll(
  corpus: readonly Reference[],
  references: readonly Reference[],
  settings: Readonly<Record<string, string>>,
): Promise<string[]> {
  await using server = await EvaluationServer.start(corpus, null, settings);
  const translated: string[] = [];
  for (const { path, file } of references) {
    if (process.stderr.isTTY) console.error(path);
    translated.push(await server.translate(file));
  }
  return translated;
}

/** Returns the translations of faster-whisper with unquantized weights, and the beam width of our own decoder. */
async function translateWithPeer(references: readonly Reference[], cpu: string): Promise<string[]> {
  const ask = await installFasterWhisper(fasterWhisperSettings(cpu));
  const settings = { beam: 5, computeType: "float32", batch: 0, language: null, task: "translate" } as const;
  const files = references.map(({ file }) => file);
  const { answers } = await ask({ ...settings, threads: availableParallelism() }, files);
  return answers.map((answer) => answer.text.trim());
}

function detailsOf({ path, reference, ours, theirs }: Translated): string {
  return [path, `  reference       ${reference}`, `  ours            ${ours}`, `  faster-whisper  ${theirs}`].join(
    "\n",
  );
}

/** Number of recordings from which a language has a row of its own. */
const MIN_RECORDINGS = 5;

async function tableOf(score: Awaited<ReturnType<typeof installBleu>>, all: readonly Translated[]): Promise<string> {
  const languages = [...new Set(all.map(({ language }) => language))];
  const groups = [
    ["all", all] as const,
    ...languages.map((language) => [language, all.filter((one) => one.language === language)] as const),
  ].filter(([name, some]) => name === "all" || some.length >= MIN_RECORDINGS);
  const lines: string[][] = [];
  for (const [name, some] of groups) {
    const ours = some.map((one) => one.ours);
    const theirs = some.map((one) => one.theirs);
    const [own, peer] = await score(
      some.map(({ reference }) => reference),
      [ours, theirs],
    );
    const [between] = await score(theirs, [ours]);
    if (own === undefined || peer === undefined || between === undefined) throw new Error("a score is missing");
    const cell = ({ bleu, low, high, chrf }: typeof own) =>
      `${bleu.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)}), ${chrf.toFixed(1)}`;
    lines.push([name, String(some.length), cell(own), cell(peer), between.bleu.toFixed(1)]);
  }
  const peer = `faster-whisper ${fasterWhisperVersion}`;
  const head = ["language", "recordings", "ours: BLEU (95 %), chrF", `${peer}: BLEU (95 %), chrF`, "BLEU between both"];
  return asMarkdown({ head, lines });
}
