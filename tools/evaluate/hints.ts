import { errorRates } from "../../harness/der.ts";
import { cpuSettings } from "../../harness/device.ts";
import {
  corpusOption,
  installScorer,
  type Normalise,
  type Rate,
  type Reference,
  readSelected,
  type Scoring,
  sum,
} from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { cpuOption, cpuTerms } from "../shared/cpu-variant.ts";
import { percent, total } from "../shared/figures.ts";
import { flag, UsageError } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { asMarkdown, headingOf, writeGenerated } from "../shared/table.ts";
import { EvaluationServer, type Hypothesis, textOf } from "./server.ts";
import { speakerResults, summarize } from "./speakers.ts";
import { textErrors } from "./words.ts";

/** The transcripts of a recording without and with one hint. */
interface Pair {
  readonly reference: Reference;
  readonly plain: Hypothesis;
  readonly hinted: Hypothesis;
}

export const command = defineCommand({
  name: "scripts/evaluate hints",
  about:
    "Measures transcripts with and without hints. Sends recordings in which names occur with a prompt of names, and " +
    "recordings with turns with their number of speakers, and both again without. A NAME selects the recordings whose " +
    "path contains it.",
  names: "NAME",
  options: {
    details: flag("print a line for each recording before the table"),
    write: flag("store the table in docs/quality.md"),
    cpu: cpuOption,
    audio: corpusOption,
  },
  async run({ details, write, cpu, audio }, names) {
    if (write && names.length > 0) throw new UsageError("--write stores the whole table and needs all recordings");
    const { corpus, chosen } = await readSelected({ audio, names });
    const when = await circumstances(Date.now());
    const settings = await cpuSettings(cpu);
    const scorer = await installScorer();
    const { named, counted } = await transcribeAll(scorer, settings, corpus, chosen);
    if (named.length + counted.length === 0) throw new CommandError("the selection has neither names nor turns");
    const say = (line: string) => details && console.log(line);
    const lines = [...(await nameRows(scorer, named, say)), ...(await speakerRows(scorer, counted, say))];
    const table = asMarkdown({ head: ["measured", "without", "with", "over"], lines });
    for (const term of cpuTerms(cpu)) console.log(term);
    console.log(table);
    const heading = headingOf(when, ...cpuTerms(cpu));
    if (write) writeGenerated("docs/quality.md", "scripts/evaluate hints --write", `${heading}:\n\n${table}`);
  },
});

/** Transcribes each recording to which a hint applies with one server, with and without its hints. */
async function transcribeAll(
  scorer: Scoring,
  settings: Readonly<Record<string, string>>,
  corpus: readonly Reference[],
  chosen: readonly Reference[],
) {
  const normalise = await scorer.normalise(textsToNormalise(chosen));
  await using server = await EvaluationServer.start(corpus, null, settings);
  const pairs: { named: Pair[]; counted: Pair[] } = { named: [], counted: [] };
  for (const reference of chosen) {
    const { file, turns, text, path } = reference;
    const prompt = text === null ? null : promptFor(normalise, reference);
    if (prompt === null && turns === null) continue;
    if (process.stderr.isTTY) console.error(path);
    const plain = await server.transcribe(file);
    const withHint = async (hint: Readonly<Record<string, string>>): Promise<Pair> => {
      return { reference, plain, hinted: await server.transcribe(file, hint) };
    };
    if (prompt !== null) pairs.named.push(await withHint({ prompt }));
    if (turns !== null) pairs.counted.push(await withHint({ speakers: String(reference.speakers) }));
  }
  return pairs;
}

function textsToNormalise(references: readonly Reference[]): [string, string][] {
  const names = Object.entries(namesByLanguage).flatMap(([language, some]) =>
    some.map((name): [string, string] => [language, name]),
  );
  return [...names, ...references.map(({ language, text }): [string, string] => [language, text ?? ""])];
}

async function nameRows(scorer: Scoring, pairs: readonly Pair[], say: (line: string) => void): Promise<string[][]> {
  if (pairs.length === 0) return [];
  const texts = ({ plain, hinted }: Pair) => [textOf(plain), textOf(hinted)];
  const normalise = await scorer.normalise([
    ...textsToNormalise(pairs.map(({ reference }) => reference)),
    ...pairs.flatMap((pair) => texts(pair).map((text): [string, string] => [pair.reference.language, text])),
  ]);
  const results = pairs.map((pair) => ({
    path: pair.reference.path,
    names: texts(pair).map((text) => countNames(normalise, pair.reference, text)),
    words: texts(pair).map((text) => textErrors(normalise, pair.reference, text)),
  }));
  for (const { path, names, words } of results) {
    const found = names.map((count) => `${count.found} of ${count.said} names, ${count.invented} invented`);
    say(`${path}: ${found.join(" → ")}; errors ${words.map(({ errors }) => errors).join(" → ")}`);
  }
  const over = `${results.length} recordings with names; a prompt of all names of the language`;
  const row = (measured: string, of: (names: readonly NameCount[], words: readonly Rate[]) => string) => {
    const cells = [0, 1].map((at) =>
      of(
        results.flatMap(({ names }) => names[at] ?? []),
        results.flatMap(({ words }) => words[at] ?? []),
      ),
    );
    return [measured, ...cells, over];
  };
  const share = ({ errors, length }: Rate) => `${percent(errors / length)} (${errors} of ${length})`;
  return [
    row("names recognized", (names) =>
      share({ errors: total(names, ({ found }) => found), length: total(names, ({ said }) => said) }),
    ),
    row("names in the transcript that were not said", (names) => String(total(names, ({ invented }) => invented))),
    row("WER", (_, words) => share(sum(words))),
  ];
}

async function speakerRows(scorer: Scoring, pairs: readonly Pair[], say: (line: string) => void): Promise<string[][]> {
  const resultsOf = (name: "plain" | "hinted") =>
    speakerResults(
      scorer,
      pairs.map((pair) => ({ reference: pair.reference, turns: pair[name].segments })),
    );
  const [plain, hinted] = [await resultsOf("plain"), await resultsOf("hinted")];
  for (const [index, { path, speakers, found, errors }] of plain.entries()) {
    const rates = [errors, hinted[index]?.errors].map((one) => (one ? percent(errorRates(one).errorRate) : "-"));
    say(`${path}: ${speakers} speakers, found ${found} → ${hinted[index]?.found}; DER ${rates.join(" → ")}`);
  }
  return (["dialogue", "meeting"] as const).flatMap((group) => {
    const both = [plain, hinted].map((results) => results.filter((one) => one.group === group));
    const count = both[0]?.length ?? 0;
    if (count === 0) return [];
    const over = `${count} ${group === "dialogue" ? "dialogues" : "excerpts of meetings"}; their number of speakers`;
    const right = both.map((results) => `${summarize(results).countsRight} of ${results.length}`);
    const rates = both.map((results) => percent(summarize(results).errorRate));
    return [
      [`numbers of speakers correct, ${group}`, ...right, over],
      [`DER, ${group}, segments`, ...rates, over],
    ];
  });
}

/** Names and terms that occur in the corpus, by language: a plausible prompt for any of these recordings. */
const namesByLanguage: Readonly<Record<string, readonly string[]>> = {
  en: [
    ...["Zau al-Makan", "Nuzhat al-Zaman", "Allah", "Zarathustra", "Helstone", "Mister Hale", "Mister Thornton"],
    ...["Margaret", "Polly", "Puttel", "Mister Fish", "apomorphine", "distichs", "the kine", "Sintra", "Lord Byron"],
    ...["Northern Marianas", "Mr. Quilter"],
  ],
  de: ["Kowloon", "Hongkong", "T-Rex", "Das Vermächtnis der Tempelritter", "Mekka"],
  es: ["Carpanedo", "San Pedro"],
  fr: ["Giancarlo Fisichella", "Mashhad", "USOC"],
};

/** Returns the prompt for a recording; null if no name was said. */
export function promptFor(normalise: Normalise, { language, text }: Reference): string | null {
  const names = namesByLanguage[language] ?? [];
  const words = normalise(language, text ?? "");
  return names.some((name) => occurrences(words, normalise(language, name)) > 0) ? names.join(", ") : null;
}

export function countNames(normalise: Normalise, { language, text }: Reference, transcript: string) {
  const words = { said: normalise(language, text ?? ""), found: normalise(language, transcript) };
  const counts = (namesByLanguage[language] ?? []).map((name) => {
    const parts = normalise(language, name);
    return { said: occurrences(words.said, parts), found: occurrences(words.found, parts) };
  });
  return {
    said: total(counts, ({ said }) => said),
    /** Occurrences in the transcript, at most as many as were said, name by name. */
    found: total(counts, ({ said, found }) => Math.min(said, found)),
    /** Occurrences in the transcript beyond those. */
    invented: total(counts, ({ said, found }) => Math.max(0, found - said)),
  };
}

type NameCount = ReturnType<typeof countNames>;

function occurrences(words: readonly string[], parts: readonly string[]): number {
  return words.filter((_, at) => parts.every((part, index) => words[at + index] === part)).length;
}
