import { audioDirectory } from "../../harness/diarized-recording.ts";
import { circumstances } from "../shared/circumstances.ts";
import { CommandError } from "../shared/run-command.ts";
import { type Aspect, aspects, select, transcribeAll, transcribeWithPeer } from "./collect.ts";
import { readCommandLine, refuse, requireCorpus } from "./command-line.ts";
import { readCorpus } from "./corpus.ts";
import { detailsOf, qualityPagePath, rowsOf, withTable } from "./report.ts";
import { measure } from "./results.ts";
import { Scorer } from "./scorer.ts";

const usage = `Measures quality against references: scripts/evaluate [OPTION…] [NAME…]
Sends the recordings of single/ and dialogue/, and some generated ones, to a server of this checkout and prints a table.
A NAME selects the recordings whose path contains it.

  --only ASPECT      measure only words, speakers, times or invented; repeatable
  --peer             measure faster-whisper too
  --details          print a line for each recording before the table
  --json FILE        write all figures with references and transcripts to FILE
  --write            store the table in docs/quality.md
  --audio DIRECTORY  use another corpus in the same format

scripts/evaluate diarization --help  measures the diarization alone
scripts/evaluate hints --help        compares transcripts with and without hints
scripts/evaluate devices --help      compares the words recognized on a GPU with those on the CPU`;

const options = {
  only: { type: "string", multiple: true, default: [] as string[] },
  peer: { type: "boolean", default: false },
  json: { type: "string" },
  audio: { type: "string", default: audioDirectory },
  details: { type: "boolean", default: false },
  write: { type: "boolean", default: false },
} as const;

try {
  await evaluate(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  refuse(error.message, 1);
}

async function evaluate(args: string[]): Promise<void> {
  const { values, names, wanted } = readOptions(args);
  const isChosen = (name: string) => names.length === 0 || names.some((part) => name.includes(part));
  const corpus = await readCorpus(values.audio);
  const selection = await select(corpus, { audio: values.audio, aspects: wanted, isChosen });
  if (Object.values(selection).every(({ length }) => length === 0)) refuse("no recording has such a name", 1);
  const made = await circumstances(Date.now());
  const scorer = await Scorer.install();
  const transcribed = await transcribeAll(corpus, selection, (name) => {
    if (process.stderr.isTTY) console.error(name);
  });
  const peer = values.peer ? await transcribeWithPeer(corpus.filter(({ path }) => isChosen(path))) : null;
  const results = await measure(scorer, transcribed, wanted, peer);
  for (const path of results.scorerMismatches) {
    console.error(`${path}: harness/der.ts and pyannote.metrics disagree on its errors`);
  }
  const rows = rowsOf(results);
  if (rows.length === 0) refuse("the selection contains nothing to measure", 1);
  if (values.details) for (const line of detailsOf(results)) console.log(line);
  const width = Math.max(...rows.map((row) => row.measure.length));
  for (const row of rows) console.log(`${row.measure.padEnd(width)}  ${row.value.padStart(9)}  ${row.over}`);
  if (values.json !== undefined) {
    await Bun.write(values.json, `${JSON.stringify({ ...made, rows, ...results }, null, 2)}\n`);
  }
  if (values.write) {
    await Bun.write(qualityPagePath, withTable(await Bun.file(qualityPagePath).text(), made, rows));
  }
}

function readOptions(args: string[]) {
  const { values, names } = readCommandLine(args, options, usage);
  const unknown = values.only.filter((name) => !(aspects as readonly string[]).includes(name));
  if (unknown.length > 0) refuse(`--only is one of ${aspects.join(", ")}, not ${unknown.join(", ")}`, 2);
  if (values.write && (values.only.length > 0 || names.length > 0)) {
    refuse("--write stores the whole table and cannot be combined with a selection", 2);
  }
  requireCorpus(values.audio);
  const wanted = new Set<Aspect>(aspects.filter((one) => values.only.length === 0 || values.only.includes(one)));
  return { values, names, wanted };
}
