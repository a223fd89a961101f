import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { loadGgml } from "../../src/speech/ggml.ts";
import { familyOf, type Recognizer } from "../../src/speech/recognizer/index.ts";
import { peakBytesOf } from "../shared/processes.ts";

const count = Type.Integer({ minimum: 1 });

const taskSchema = Type.Object({
  nativeDirectory: Type.String(),
  model: Type.String(),
  /** File with the samples of all chunks in 32 bits. */
  samples: Type.String(),
  chunks: Type.Array(Type.Object({ language: Type.String(), first: Type.Integer(), end: count }), { minItems: 1 }),
  /** Number of times that the chunks are recognized. */
  copies: count,
  /** Number of chunks that are recognized at the same time, and threads for each of them. */
  lanes: count,
  threads: count,
});
export type RecognizerTask = Static<typeof taskSchema>;

export const recognizerFiguresSchema = Type.Object({
  seconds: Type.Number({ minimum: 0 }),
  cpuSeconds: Type.Number({ minimum: 0 }),
  peakBytes: Type.Integer({ minimum: 0 }),
  /** Recognized words of the first copy. */
  text: Type.String(),
});
export type RecognizerFigures = Static<typeof recognizerFiguresSchema>;

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

if (import.meta.main) {
  const task = Value.Parse(taskSchema, JSON.parse(process.argv[2] ?? ""));
  process.stdout.write(JSON.stringify(await recognizeChunks(task)));
}
