import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Value } from "@sinclair/typebox/value";
import { audioDirectory } from "../../harness/diarized-recording.ts";
import { cachedLargeModel, type WeightForm, weightForms } from "../../harness/parakeet/cached-model.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { cpuShares } from "../../src/engine/cpu-shares.ts";
import { messageOf } from "../../src/text/index.ts";
import { root } from "../shared/checkout.ts";
import { circumstances, writeGeneratedTable } from "../shared/circumstances.ts";
import { beforeStop } from "../shared/processes.ts";
import { runCommand } from "../shared/run-command.ts";
import { refuse } from "./options.ts";
import { type RecognizerFigures, type RecognizerTask, recognizerFiguresSchema } from "./recognize-chunks.ts";
import { asMarkdown, asText, benchmarksPagePath, type Cells } from "./show-table.ts";
import { makeSpeechChunks, type SpeechChunks } from "./speech-chunks.ts";
import { median } from "./table.ts";

const usage = `Measures the recognizer alone with a Parakeet model of the 0.6B shape and random weights, which has the pace of a
real one: scripts/bench parakeet [OPTION…]
Recognizes 420 s of real speech, and the same with Whisper base. Each run is a process, in turns.

  --runs N             number of runs (default: 3)
  --only PART          run only the rows whose name contains PART: "window", "chunks", "five", "Whisper"; repeatable
  --threads N          number of threads (default: one per processor)
  --form FORM          weights of the model: ${Object.keys(weightForms).join(", ")} (default: q8_0)
  --native DIRECTORY   also run with the native libraries of another build, and compare; repeatable
  --json               print the figures of all runs as JSON
  --write              store the table in docs/benchmarks.md
  --audio DIRECTORY    use another corpus in the same format`;

interface Row {
  readonly name: string;
  readonly isParakeet: boolean;
  readonly task: Omit<RecognizerTask, "samples" | "chunks" | "model">;
  /** Name of the row with the same work and this checkout's libraries. */
  readonly own: string;
}

const mib = 1024 ** 2;
const ownNative = join(root, "build/native");
const whisperBase = join(root, "build/models/ggml-base.bin");
const options = readOptions();
const report = (text: string) => console.error(text);

const rows = rowsOf();
const model = await cachedLargeModel(options.form, { cacheRoot: defaultCacheRoot(), report });
const folder = await mkdtemp(join(tmpdir(), "transcribe-bench-"));
const removeFolder = () => rm(folder, { recursive: true, force: true });
beforeStop(removeFolder);
const runs = new Map<string, RecognizerFigures[]>(rows.map(({ name }) => [name, []]));
try {
  const speech = await makeSpeechChunks(options.audio, folder);
  for (let run = 0; run < options.runs; run++) {
    for (const row of rows) {
      const figures = await runRow(row, speech);
      runs.get(row.name)?.push(figures);
      report(`run ${run + 1}, ${row.name}: ${figures.seconds.toFixed(1)} s`);
    }
  }
  await printReport(speech);
} finally {
  await removeFolder();
}

function rowsOf(): Row[] {
  const { threads, form } = options;
  const shares = cpuShares(threads);
  const alone = { lanes: 1, threads };
  const asWorker = { lanes: shares.lanes, threads: shares.speechThreads };
  const at = `${shares.lanes} chunks at once`;
  const name = `Parakeet 0.6B ${form}`;
  const natives = [ownNative, ...options.native.map((path) => resolve(path))];
  const parakeet = natives.flatMap((nativeDirectory): Row[] => {
    const place = nativeDirectory === ownNative ? "" : `, ${nativeDirectory}`;
    const row = (what: string, copies: number, shared: typeof alone): Row => ({
      name: `${name}, ${what}${place}`,
      own: `${name}, ${what}`,
      isParakeet: true,
      task: { nativeDirectory, copies, ...shared },
    });
    return [
      row(`a window on ${threads} threads`, 1, alone),
      row(at, 1, asWorker),
      row("five recordings at once", 5, asWorker),
    ];
  });
  const whisper: Row = {
    name: `Whisper base, ${at}`,
    own: `Whisper base, ${at}`,
    isParakeet: false,
    task: { nativeDirectory: ownNative, copies: 1, ...asWorker },
  };
  const all = [...parakeet, whisper];
  const chosen = all.filter((row) => options.only.length === 0 || options.only.some((part) => row.name.includes(part)));
  if (chosen.length === 0) refuse(`--only selects none of ${all.map((row) => row.name).join("; ")}`);
  return chosen.toSorted((one, other) => all.indexOf(firstOf(all, one)) - all.indexOf(firstOf(all, other)));
}

/** Returns the row of this checkout's libraries, so that rows of the same work follow each other. */
function firstOf(all: readonly Row[], row: Row): Row {
  return all.find(({ name }) => name === row.own) ?? row;
}

async function runRow({ isParakeet, task }: Row, { samples, chunks }: SpeechChunks): Promise<RecognizerFigures> {
  const script = join(import.meta.dir, "recognize-chunks.ts");
  const parameters = JSON.stringify({ ...task, model: isParakeet ? model : whisperBase, samples, chunks });
  const output = await runCommand([process.execPath, "--no-env-file", script, parameters]);
  return Value.Parse(recognizerFiguresSchema, JSON.parse(output));
}

async function printReport(speech: SpeechChunks): Promise<void> {
  const when = await circumstances(Date.now());
  if (options.json) {
    const figures = rows.map(({ name, task }) => ({ name, ...task, runs: runs.get(name) }));
    console.log(JSON.stringify({ ...when, speech_seconds: speech.seconds, rows: figures }, null, 2));
    return;
  }
  const table = tableOf(speech);
  const heading = `${when.date}, commit ${when.commit}, ${when.machine}, ${Math.round(speech.seconds)} s of speech, medians of ${options.runs}:`;
  console.log(`${heading}\n${asText(table)}`);
  if (!options.write) return;
  writeGeneratedTable(benchmarksPagePath, "scripts/bench parakeet --write", `${heading}\n\n${asMarkdown(table)}`);
}

function tableOf({ seconds: length }: SpeechChunks): Cells {
  const compares = options.native.length > 0;
  const secondsIn = (name: string) => median((runs.get(name) ?? []).map(({ seconds }) => seconds));
  const whisper = rows.find(({ isParakeet }) => !isParakeet);
  return {
    head: [
      ...["recognizer", "seconds", "× real time", "relative to Whisper base", "CPU s", "peak MiB"],
      ...(compares ? ["relative to this build", "same words"] : []),
    ],
    lines: rows.map(({ name, own, task }) => {
      const its = runs.get(name) ?? [];
      const seconds = secondsIn(name);
      const relative = whisper === undefined ? "" : (seconds / secondsIn(whisper.name) / task.copies).toFixed(2);
      const isSame = its[0]?.text === runs.get(own)?.[0]?.text;
      return [
        ...[name, seconds.toFixed(1), ((length * task.copies) / seconds).toFixed(1), relative],
        median(its.map(({ cpuSeconds }) => cpuSeconds)).toFixed(1),
        String(Math.round(Math.max(...its.map(({ peakBytes }) => peakBytes)) / mib)),
        ...(compares ? [runs.has(own) ? (seconds / secondsIn(own)).toFixed(3) : "", isSame ? "yes" : "no"] : []),
      ];
    }),
  };
}

function readOptions() {
  const values = parse();
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const { form, runs, threads, native, audio } = values;
  if (!isForm(form)) return refuse(`--form is ${Object.keys(weightForms).join(", ")}, not ${form}`);
  for (const [option, value] of Object.entries({ runs, threads })) {
    if (!/^[1-9]\d?$/.test(value)) refuse(`--${option} is a whole number from 1, not ${value}`);
  }
  const missing = native.find((path) => !existsSync(join(path, "whisper.node")));
  if (missing !== undefined) refuse(`${missing} has no native libraries`);
  if (!existsSync(join(audio, "manifest.json"))) refuse(`${audio} contains no manifest.json`);
  return { ...values, form, runs: Number(runs), threads: Number(threads) };
}

function parse() {
  try {
    return parseArgs({
      options: {
        runs: { type: "string", default: "3" },
        only: { type: "string", multiple: true, default: [] as string[] },
        threads: { type: "string", default: String(availableParallelism()) },
        form: { type: "string", default: "q8_0" },
        native: { type: "string", multiple: true, default: [] as string[] },
        json: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        audio: { type: "string", default: audioDirectory },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    return refuse(messageOf(error).split(". ")[0] ?? "");
  }
}

function isForm(text: string): text is WeightForm {
  return text in weightForms;
}
