import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { root } from "../../harness/checkout.ts";
import { largeModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { cpuShares } from "../../src/engine/index.ts";
import { makeCacheEntry, removeCacheEntry } from "../../src/files/index.ts";
import { corpusOption, requireCorpus } from "../corpus/index.ts";
import { defineCommand } from "../shared/command.ts";
import { MIB, median } from "../shared/figures.ts";
import { oneOf, texts, UsageError, whole } from "../shared/options.ts";
import { report, reportOptions, type Table } from "../shared/table.ts";
import {
  makeSpeechChunks,
  type RecognizerFigures,
  type RecognizerTask,
  recognizeInProcess,
} from "./recognize-chunks.ts";
import { whisperBase } from "./whisper-cpp.ts";

/** Forms of the weights, by the header's number for them. */
const weightForms = { f32: 0, f16: 1, q8_0: 7, q5_0: 8, q4_0: 2 } as const;
type WeightForm = keyof typeof weightForms;

/** The code that determines the model's bytes. */
const generator = [
  "harness/ggml-model.ts",
  "harness/parakeet/random-model.ts",
  "harness/parakeet/random-parts.ts",
  "harness/parakeet/quantize.ts",
  "src/speech/recognizer/parakeet/model-file/expected-tensors.ts",
  "harness/random-numbers.ts",
];
const FOLDER = "random-parakeet";

const progress = (text: string) => console.error(text);
const OWN_NATIVE = join(root, "build/native");
const forms = Object.keys(weightForms) as WeightForm[];

interface Row {
  readonly name: string;
  /** Name of the row with the same work and this checkout's libraries. */
  readonly own: string;
  readonly isParakeet: boolean;
  readonly task: Omit<RecognizerTask, "samples" | "chunks" | "model">;
  readonly runs: RecognizerFigures[];
}

export const command = defineCommand({
  name: "scripts/bench parakeet",
  about:
    "Measures the recognizer alone with a Parakeet model of the 0.6B shape and random weights, which has the pace of a " +
    "real one. Recognizes 420 s of real speech, and the same with Whisper base. Each run is a process, in turns.",
  options: {
    runs: whole("number of runs", { fallback: 3 }),
    only: texts("PART", 'run only the rows whose name contains PART: "window", "chunks", "five", "Whisper"'),
    threads: whole("number of threads", { fallback: availableParallelism() }),
    form: oneOf("FORM", "weights of the model", { names: forms, fallback: "q8_0" }),
    native: texts("DIRECTORY", "also run with the native libraries of another build, and compare"),
    ...reportOptions,
    audio: corpusOption,
  },
  async run({ runs, only, threads, form, native, audio, ...values }) {
    const missing = native.find((path) => !existsSync(join(path, "whisper.node")));
    if (missing !== undefined) throw new UsageError(`${missing} has no native libraries`);
    const all = rowsOf(form, threads, native);
    const rows = all.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
    const names = all.map(({ name }) => name).join("; ");
    if (rows.length === 0) throw new UsageError(`--only selects none of ${names}`);
    requireCorpus(audio);
    const parakeet = await cachedLargeModel(form);
    using folder = temporaryDirectory();
    const { speechSeconds, ...speech } = await makeSpeechChunks(audio, folder.path);
    for (let run = 0; run < runs; run++) {
      for (const { name, isParakeet, task, runs: own } of rows) {
        const figures = await recognizeInProcess({ ...task, ...speech, model: isParakeet ? parakeet : whisperBase });
        own.push(figures);
        progress(`run ${run + 1}, ${name}: ${figures.seconds.toFixed(1)} s`);
      }
    }
    const terms = [`${Math.round(speechSeconds)} s of speech`, `medians of ${runs}`];
    const sections = [tableOf(rows, speechSeconds, native.length > 0)];
    const figures = {
      speech_seconds: speechSeconds,
      rows: rows.map(({ name, task, runs: own }) => ({ name, ...task, runs: own })),
    };
    await report({ terms, sections, figures }, values, "scripts/bench parakeet");
  },
});

/** Returns all rows. Rows of the same work follow each other. */
function rowsOf(form: WeightForm, threads: number, native: readonly string[]): Row[] {
  const shares = cpuShares(threads);
  const alone = { lanes: 1, threads };
  const asWorker = { lanes: shares.lanes, threads: shares.speechThreads };
  const at = `${shares.lanes} chunks at once`;
  const row = (own: string, nativeDirectory: string, copies: number, shared: typeof alone): Row => ({
    name: nativeDirectory === OWN_NATIVE ? own : `${own}, ${nativeDirectory}`,
    ...{ own, isParakeet: own.startsWith("Parakeet"), task: { nativeDirectory, copies, ...shared }, runs: [] },
  });
  const works = [
    [`a window on ${threads} threads`, 1, alone],
    [at, 1, asWorker],
    ["five recordings at once", 5, asWorker],
  ] as const;
  const places = [OWN_NATIVE, ...native.map((path) => resolve(path))];
  const parakeet = works.flatMap(([what, copies, shared]) =>
    places.map((place) => row(`Parakeet 0.6B ${form}, ${what}`, place, copies, shared)),
  );
  return [...parakeet, row(`Whisper base, ${at}`, OWN_NATIVE, 1, asWorker)];
}

function tableOf(rows: readonly Row[], speechSeconds: number, compares: boolean): Table {
  const secondsOf = (row: Row | undefined) => median((row?.runs ?? []).map(({ seconds }) => seconds));
  const whisper = rows.find(({ isParakeet }) => !isParakeet);
  return {
    head: [
      ...["recognizer", "seconds", "× real time", "relative to Whisper base", "CPU s", "peak MiB"],
      ...(compares ? ["relative to this build", "same words"] : []),
    ],
    lines: rows.map((row) => {
      const { name, own, task, runs } = row;
      const seconds = secondsOf(row);
      const ownRow = rows.find((other) => other.name === own);
      const relative = whisper === undefined ? "" : (seconds / secondsOf(whisper) / task.copies).toFixed(2);
      const toOwn = ownRow === undefined ? "" : (seconds / secondsOf(ownRow)).toFixed(3);
      return [
        ...[name, seconds.toFixed(1), ((speechSeconds * task.copies) / seconds).toFixed(1), relative],
        median(runs.map(({ cpuSeconds }) => cpuSeconds)).toFixed(1),
        String(Math.round(Math.max(...runs.map(({ peakBytes }) => peakBytes)) / MIB)),
        ...(compares ? [toOwn, runs[0]?.text === ownRow?.runs[0]?.text ? "yes" : "no"] : []),
      ];
    }),
  };
}

/**
 * Returns the path of a model of the 0.6B shape with random weights. It is written once, in some minutes, and cached by
 * the code that writes it; models of earlier code are removed.
 */
async function cachedLargeModel(form: WeightForm): Promise<string> {
  const cacheRoot = defaultCacheRoot();
  const digest = createHash("sha256");
  for (const path of generator) digest.update(readFileSync(join(root, path)));
  const name = `${form}-${digest.digest("hex").slice(0, 16)}`;
  const path = join(cacheRoot, FOLDER, name, "model.bin");
  if (existsSync(path)) return path;
  progress(`writing a random model in ${form}, which takes some minutes`);
  await makeCacheEntry(cacheRoot, join(FOLDER, name), async (directory) =>
    writeRandomModel(join(directory, "model.bin"), { ...largeModel, weightForm: weightForms[form] }),
  );
  const earlier = readdirSync(join(cacheRoot, FOLDER)).filter((one) => one.startsWith(`${form}-`) && one !== name);
  for (const one of earlier) await removeCacheEntry(cacheRoot, join(FOLDER, one));
  return path;
}
