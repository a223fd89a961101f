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
  /** The translations of faster-whisper with unquantized weights, and with weights of 8 bits. */
  readonly theirs: string;
  readonly theirsInt8: string;
}

export const command = defineCommand({
  name: "scripts/evaluate translation",
  about:
    "Translates the recordings of other languages than English with our default model, and with the same weights in " +
    "faster-whisper (float32 and int8), each with a beam of 5 and language detection. Compares all with English references (BLEU and chrF " +
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
    const translateWith = await installPeer(cpu);
    const theirs = await translateWith(references, "float32");
    const theirsInt8 = await translateWith(references, "int8");
    const ours = await translateAll(corpus, references, await cpuSettings(cpu));
    const translated = references.map(
      ({ path, language }, index): Translated => ({
        ...{ path, language, reference: referenceOf(path) ?? "" },
        ...{ ours: ours[index] ?? "", theirs: theirs[index] ?? "", theirsInt8: theirsInt8[index] ?? "" },
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

/** Returns a function that translates with faster-whisper and the beam width of our own decoder. */
async function installPeer(cpu: string) {
  const ask = await installFasterWhisper(fasterWhisperSettings(cpu));
  return async (references: readonly Reference[], computeType: "float32" | "int8"): Promise<string[]> => {
    const settings = { beam: 5, computeType, batch: 0, language: null, task: "translate" } as const;
    const files = references.map(({ file }) => file);
    const { answers } = await ask({ ...settings, threads: availableParallelism() }, files);
    return answers.map((answer) => answer.text.trim());
  };
}

function detailsOf({ path, reference, ours, theirs, theirsInt8 }: Translated): string {
  const texts = { reference, ours, "faster-whisper float32": theirs, "faster-whisper int8": theirsInt8 };
  return [path, ...Object.entries(texts).map(([name, text]) => `  ${name.padEnd(22)}  ${text}`)].join("\n");
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
    const systems = [some.map((one) => one.ours), some.map((one) => one.theirs), some.map((one) => one.theirsInt8)];
    const scores = await score(
      some.map(({ reference }) => reference),
      systems,
    );
    const [ours = [], theirs = []] = systems;
    const [between] = await score(theirs, [ours]);
    if (between === undefined) throw new Error("a score is missing");
    const cells = scores.map(
      ({ bleu, low, high, chrf }) => `${bleu.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)}), ${chrf.toFixed(1)}`,
    );
    lines.push([name, String(some.length), ...cells, between.bleu.toFixed(1)]);
  }
  const peer = `faster-whisper ${fasterWhisperVersion}`;
  const columns = ["ours", `${peer} float32`, `${peer} int8`].map((system) => `${system}: BLEU (95 %), chrF`);
  return asMarkdown({ head: ["language", "recordings", ...columns, "BLEU of ours against float32"], lines });
}
