import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { newRecording } from "../../harness/new-recording.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { setVocabulary } from "../../src/accounts/index.ts";
import { type TranscriptionPlan, transcribe } from "../../src/pipeline/transcribe.ts";
import { Checkpoints } from "../../src/recordings/index.ts";
import type { Language } from "../../src/speech/index.ts";
import { stepContext, storedRecording } from "./step-context.ts";

const english: Language = { code: "en", name: "English", modelCode: "en" };
const plan: TranscriptionPlan = {
  model: { id: "own", path: "model", encoder: null, companion: null, routes: [] },
  partsOf: async ({ chunk }) => [{ chunk, language: english }],
  mayChangeLanguage: true,
  countRecognized: () => {},
  onTranscribed: () => {},
};
const chunks = [0, 30, 60].map((startSeconds) => ({ startSeconds, endSeconds: startSeconds + 30, speech: [] }));

test("all chunks are transcribed with the recording's vocabulary and prompt, even after an interruption and a change", async () => {
  const { store, recordings, account } = storedRecording();
  const by = { actor: "operator", now: 1 };
  setVocabulary(store, account, by, "Zitronenfalter");
  const values = { prompt: "Admiral, C-Falter" };
  const recording = recordings.create(newRecording(Bun.randomUUIDv7(), account.id, values));
  setVocabulary(store, account, by, "Kohlweißling");
  const told: unknown[] = [];
  const transcribeUntil = (interruptAt: number) => {
    const run = async (_operation: string, params: { vocabulary?: string; chunk: { startSeconds: number } }) => {
      if (params.chunk.startSeconds === interruptAt) throw new Error("interrupted");
      told.push([params.chunk.startSeconds, params.vocabulary]);
      return { words: [], languages: {} };
    };
    const checkpoints = new Checkpoints(store, recording.id);
    return transcribe(stepContext({ recording, checkpoints }, run), chunks, plan);
  };
  await expect(transcribeUntil(30)).rejects.toThrow("interrupted");
  await transcribeUntil(-1);
  expect(told).toEqual([0, 30, 60].map((startSeconds) => [startSeconds, "Zitronenfalter, Admiral, C-Falter"]));
});

test("the languages of each chunk's words are returned, also for chunks of an earlier version", async () => {
  const stored = storedRecording();
  stored.checkpoints.write("transcribe", 0, Type.Any(), { words: [] });
  const told: unknown[] = [];
  const run = async (_operation: string, { mayChangeLanguage }: { mayChangeLanguage: boolean }) => {
    told.push(mayChangeLanguage);
    return { words: [], languages: { en: 2, de: 5 } };
  };
  const reading = { ...plan, mayChangeLanguage: false };
  const { languages } = await transcribe(stepContext(stored, run), chunks.slice(0, 2), reading);
  expect(languages).toEqual([{}, { en: 2, de: 5 }]);
  expect(told).toEqual([false]);
});

test("a chunk is given to the model that detects languages if the other's words contradict its language, and counted once", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "european.bin");
  writeRandomModel(path, { ...tinyModel, vocabulary: 8192 });
  const spoken: [code: string, text: string][] = [
    ["de", "Zu den Sehenswürdigkeiten zählt auch die alte Brücke über den Fluss"],
    ["de", "One of the sights that you would see there is the old bridge over the river"],
    ["ru", "Odna iz dostoprimechatelnostey"],
    ["ja", "never asked of this model"],
  ];
  const asked: string[] = [];
  const counted: [model: string, parts: number][][] = [];
  const run = async (_operation: string, { model, chunk }: { model: string; chunk: { startSeconds: number } }) => {
    const [code, text] = spoken[chunk.startSeconds] ?? ["", ""];
    asked.push(`${code} ${model === path ? "other" : model}`);
    // The worker has the model in memory.
    rmSync(path, { force: true });
    const times = { startSeconds: 0, endSeconds: 1, probability: 1 };
    return { words: text.split(" ").map((word) => ({ text: ` ${word}`, ...times })), languages: {} };
  };
  const companion = { id: "whisper", path: "detector", encoder: null };
  await transcribe(
    stepContext(storedRecording(), run),
    spoken.map((_, startSeconds) => ({ startSeconds, endSeconds: startSeconds + 1, speech: [] })),
    {
      ...plan,
      model: { id: "european", path, encoder: null, companion, routes: [] },
      partsOf: async ({ chunk }) => {
        const [code] = spoken[chunk.startSeconds] ?? [""];
        return [{ chunk, language: { code, name: code, modelCode: code } }];
      },
      countRecognized: (parts) => counted.push([...parts]),
    },
  );
  expect(asked).toEqual(["de other", "de other", "de detector", "ru other", "ru detector", "ja detector"]);
  expect(counted).toEqual([[["european", 1]], [["whisper", 1]], [["whisper", 1]], [["whisper", 1]]]);
});
