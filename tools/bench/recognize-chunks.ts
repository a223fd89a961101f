import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { loadGgml } from "../../src/runtimes/index.ts";
import { familyOf } from "../../src/speech/index.ts";
import type { Recognizer } from "../../src/speech/recognizer/index.ts";
import { SAMPLE_RATE } from "../../src/timeline/index.ts";
import { readCorpus, samplesOf } from "../corpus/index.ts";
import { peakBytesOf } from "../shared/processes.ts";
import { runCommand } from "../shared/run-command.ts";

const count = Type.Integer({ minimum: 1 });
const chunkSchema = Type.Object({ language: Type.String(), first: Type.Integer(), end: count });

const taskSchema = Type.Object({
  nativeDirectory: Type.String(),
  model: Type.String(),
  /** File with the samples of all chunks in 32 bits. */
  samples: Type.String(),
  chunks: Type.Array(chunkSchema, { minItems: 1 }),
  /** Number of times that the chunks are recognized. */
  copies: count,
  /** Number of chunks that are recognized at the same time, and threads for each of them. */
  lanes: count,
  threads: count,
});
export type RecognizerTask = Static<typeof taskSchema>;

const figuresSchema = Type.Object({
  seconds: Type.Number({ minimum: 0 }),
  cpuSeconds: Type.Number({ minimum: 0 }),
  peakBytes: Type.Integer({ minimum: 0 }),
  /** Recognized words of the first copy. */
  text: Type.String(),
});
export type RecognizerFigures = Static<typeof figuresSchema>;

/** Recognizes chunks in a process of its own. */
export async function recognizeInProcess(task: RecognizerTask): Promise<RecognizerFigures> {
  const command = [process.execPath, "--no-env-file", import.meta.path, JSON.stringify(task)];
  return Value.Parse(figuresSchema, JSON.parse(await runCommand(command)));
}

/**
 * Recognizes chunks as the worker does: each lane has a recognizer of its own and takes the next chunk. The model is
 * loaded, and each recognizer has recognized the first chunk, before the measurement starts.
 */
async function recognizeChunks(task: RecognizerTask): Promise<RecognizerFigures> {
  const runtime = loadGgml({ nativeDirectory: task.nativeDirectory });
  const model = familyOf(task.model).open(runtime, task.model, false);
  const samples = new Float32Array(await Bun.file(task.samples).arrayBuffer());
  const recognize = async (recognizer: Recognizer, { language, first, end }: RecognizerTask["chunks"][number]) => {
    const signal = new AbortController().signal;
    const options = { language, threads: task.threads, vocabulary: "", mayChangeLanguage: false, signal };
    const parts = await recognizer.transcribe(samples.subarray(first, end), options);
    return parts.flatMap(({ words }) => words.map(({ text }) => text)).join("");
  };
  const recognizers = Array.from({ length: task.lanes }, () => model.createRecognizer());
  await Promise.all(recognizers.map((one) => recognize(one, task.chunks[0] as RecognizerTask["chunks"][number])));
  const queue = Array.from({ length: task.copies }, () => task.chunks)
    .flat()
    .entries();
  const texts: string[] = [];
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(
    recognizers.map(async (recognizer) => {
      for (const [index, chunk] of queue) texts[index] = await recognize(recognizer, chunk);
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const text = texts.slice(0, task.chunks.length).join("").trim();
  for (const recognizer of recognizers) recognizer.dispose();
  model.dispose();
  return { seconds, cpuSeconds: (user + system) / 1e6, peakBytes: peakBytesOf(process.pid), text };
}

/** Languages of the recordings, in this order. All recognizers that are compared know them. */
const LANGUAGES = ["en", "de"];
const MAX_SAMPLES = 420 * SAMPLE_RATE;
const MAX_CHUNK_SAMPLES = 30 * SAMPLE_RATE;

type SpeechChunks = Pick<RecognizerTask, "samples" | "chunks"> & { readonly speechSeconds: number };

/**
 * Writes recordings of single speakers as samples, in chunks of at most 30 s like those of a recording: several short
 * recordings of one language, or an equal part of a long one.
 */
export async function makeSpeechChunks(audio: string, directory: string): Promise<SpeechChunks> {
  const corpus = (await readCorpus(audio)).filter(({ group }) => group === "single");
  const chunks: RecognizerTask["chunks"] = [];
  const parts: Float32Array[] = [];
  let length = 0;
  for (const { file, language } of LANGUAGES.flatMap((code) => corpus.filter((one) => one.language === code))) {
    const samples = await samplesOf(file);
    if (length + samples.length > MAX_SAMPLES) continue;
    parts.push(samples);
    const pieces = Math.ceil(samples.length / MAX_CHUNK_SAMPLES);
    const edge = (piece: number) => length + Math.round((samples.length * piece) / pieces);
    for (let piece = 0; piece < pieces; piece++) {
      const [first, end, last] = [edge(piece), edge(piece + 1), chunks.at(-1)];
      if (last?.language === language && end - last.first <= MAX_CHUNK_SAMPLES) last.end = end;
      else chunks.push({ language, first, end });
    }
    length += samples.length;
  }
  const path = join(directory, "speech.f32");
  await Bun.write(path, new Blob(parts.map((part) => new Uint8Array(part.buffer as ArrayBuffer))));
  return { samples: path, chunks, speechSeconds: length / SAMPLE_RATE };
}

if (import.meta.main) {
  const task = Value.Parse(taskSchema, JSON.parse(process.argv[2] ?? ""));
  process.stdout.write(JSON.stringify(await recognizeChunks(task)));
}
