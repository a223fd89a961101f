import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorRates } from "../../harness/der.ts";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import { circumstances, writeGeneratedTable } from "../shared/circumstances.ts";
import { beforeStop } from "../shared/processes.ts";
import { CommandError } from "../shared/run-command.ts";
import { readCommandLine, refuse, requireCorpus } from "./command-line.ts";
import { type Reference, readCorpus } from "./corpus.ts";
import { EvaluationServer, type Hypothesis, textOf, warmUp } from "./evaluation-server.ts";
import { countNames, namesByLanguage, promptFor } from "./measure-names.ts";
import { type SpeakerResult, speakerResults, summarize } from "./measure-speakers.ts";
import { sum, textErrors } from "./measure-words.ts";
import { percent, qualityPagePath } from "./report.ts";
import { Scorer } from "./scorer.ts";

const usage = `Measures transcripts with and without hints: scripts/evaluate hints [OPTION…] [NAME…]
Sends recordings in which names occur with a prompt of names, and recordings with turns with their number of speakers,
and both again without. A NAME selects the recordings whose path contains it.

  --details          print a line for each recording before the table
  --write            store the table in docs/quality.md
  --audio DIRECTORY  use another corpus in the same format`;

const options = {
  audio: { type: "string", default: audioDirectory },
  details: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
} as const;

/** The transcripts of a recording: without hints, and with those that apply to it. */
interface Transcripts {
  readonly reference: Reference;
  readonly plain: Hypothesis;
  readonly withPrompt: Hypothesis | null;
  readonly withSpeakers: Hypothesis | null;
}

try {
  await evaluate(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  refuse(error.message, 1);
}

async function evaluate(args: string[]): Promise<void> {
  const { values, names } = readCommandLine(args, options, usage);
  requireCorpus(values.audio);
  if (values.write && names.length > 0) refuse("--write stores the whole table and needs all recordings", 2);
  const corpus = await readCorpus(values.audio);
  const chosen = corpus.filter(({ path }) => names.length === 0 || names.some((name) => path.includes(name)));
  if (chosen.length === 0) refuse("no recording has such a name", 1);
  const made = await circumstances(Date.now());
  const scorer = await Scorer.install();
  const all = await transcribeAll(scorer, corpus, chosen);
  if (all.length === 0) refuse("the selection has neither names nor turns", 1);
  const rows = [...(await nameRows(scorer, all, values.details)), ...(await speakerRows(scorer, all, values.details))];
  const lines = [["measured", "without", "with", "over"], ["---", "---", "---", "---"], ...rows];
  const table = lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  console.log(table);
  if (!values.write) return;
  const { date, commit, machine } = made;
  const text = `${date}, commit ${commit}, ${machine}:\n\n${table}`;
  writeGeneratedTable(qualityPagePath, "scripts/evaluate hints --write", text);
}

/** Transcribes each recording to which a hint applies with one server, with and without its hints. */
async function transcribeAll(
  scorer: Scorer,
  corpus: readonly Reference[],
  chosen: readonly Reference[],
): Promise<Transcripts[]> {
  const normalise = await scorer.normalise(textsToNormalise(chosen));
  const directory = await mkdtemp(join(tmpdir(), "evaluate-"));
  await using resources = new AsyncDisposableStack();
  using _stop = beforeStop(() => resources.disposeAsync());
  resources.defer(() => rm(directory, { recursive: true }));
  const server = resources.use(new EvaluationServer());
  await server.start();
  await warmUp(server, corpus, directory);
  const all: Transcripts[] = [];
  for (const reference of chosen) {
    const { file, turns, speakers, path } = reference;
    const prompt = reference.text === null ? null : promptFor(normalise, reference);
    if (prompt === null && turns === null) continue;
    if (process.stderr.isTTY) console.error(path);
    const plain = await server.transcribe(file);
    const withPrompt = prompt === null ? null : await server.transcribe(file, { prompt });
    const withSpeakers = turns === null ? null : await server.transcribe(file, { speakers: String(speakers) });
    all.push({ reference, plain, withPrompt, withSpeakers });
  }
  return all;
}

function textsToNormalise(references: readonly Reference[]): [string, string][] {
  const names = Object.entries(namesByLanguage).flatMap(([language, some]) =>
    some.map((name): [string, string] => [language, name]),
  );
  return [...names, ...references.map(({ language, text }): [string, string] => [language, text ?? ""])];
}

async function nameRows(scorer: Scorer, all: readonly Transcripts[], details: boolean): Promise<string[][]> {
  const named = all.flatMap(({ reference, plain, withPrompt }) =>
    withPrompt === null ? [] : [{ reference, texts: [textOf(plain), textOf(withPrompt)] as const }],
  );
  if (named.length === 0) return [];
  const normalise = await scorer.normalise([
    ...textsToNormalise(named.map(({ reference }) => reference)),
    ...named.flatMap(({ reference, texts }) => texts.map((text): [string, string] => [reference.language, text])),
  ]);
  const results = named.map(({ reference, texts }) => ({
    path: reference.path,
    names: texts.map((text) => countNames(normalise, reference, text)),
    words: texts.map((text) => textErrors(normalise, reference, text)),
  }));
  if (details) {
    for (const { path, names, words } of results) {
      const found = names.map((count) => `${count.found} of ${count.said} names, ${count.invented} invented`);
      console.log(`${path}: ${found.join(" → ")}; errors ${words.map(({ errors }) => errors).join(" → ")}`);
    }
  }
  const of = (at: number) => {
    const counts = results.flatMap(({ names }) => names[at] ?? []);
    const total = (name: "said" | "found" | "invented") => counts.reduce((sum, count) => sum + count[name], 0);
    const rate = sum(results.flatMap(({ words }) => words[at] ?? []));
    return {
      found: `${percent(total("found") / total("said"))} (${total("found")} of ${total("said")})`,
      invented: String(total("invented")),
      wer: `${percent(rate.errors / rate.length)} (${rate.errors} of ${rate.length})`,
    };
  };
  const [plain, hinted] = [of(0), of(1)];
  const over = `${results.length} recordings with names; a prompt of all names of the language`;
  return [
    ["names recognized", plain.found, hinted.found, over],
    ["names in the transcript that were not said", plain.invented, hinted.invented, over],
    ["WER", plain.wer, hinted.wer, over],
  ];
}

async function speakerRows(scorer: Scorer, all: readonly Transcripts[], details: boolean): Promise<string[][]> {
  const known = all.flatMap(({ reference, plain, withSpeakers }) =>
    withSpeakers === null ? [] : [{ reference, plain, withSpeakers }],
  );
  const resultsOf = (name: "plain" | "withSpeakers") =>
    speakerResults(
      scorer,
      known.map(({ reference, ...hypotheses }) => ({ reference, turns: hypotheses[name].segments })),
    );
  const [plain, hinted] = [await resultsOf("plain"), await resultsOf("withSpeakers")];
  if (details) {
    for (const [index, { path, speakers, found, errors }] of plain.entries()) {
      const other = hinted[index];
      const rates = [errors, other?.errors ?? null].map((one) =>
        one === null ? "-" : percent(errorRates(one).errorRate),
      );
      console.log(`${path}: ${speakers} speakers, found ${found} → ${other?.found}; DER ${rates.join(" → ")}`);
    }
  }
  return (["dialogue", "meeting"] as const).flatMap((group) => {
    const [before, after] = [plain, hinted].map((results) => results.filter((one) => one.group === group));
    if (before === undefined || after === undefined || before.length === 0) return [];
    const counts = (results: readonly SpeakerResult[]) => `${summarize(results).countsRight} of ${results.length}`;
    const rate = (results: readonly SpeakerResult[]) => percent(summarize(results).errorRate);
    const over = `${before.length} ${group === "dialogue" ? "dialogues" : "excerpts of meetings"}; their number of speakers`;
    return [
      [`numbers of speakers correct, ${group}`, counts(before), counts(after), over],
      [`DER, ${group}, segments`, rate(before), rate(after), over],
    ];
  });
}
