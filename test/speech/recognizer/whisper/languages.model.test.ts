import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { characterErrors, errorRate } from "../../../../harness/wer.ts";
import type { WhisperState } from "../../../../src/speech/recognizer/whisper/index.ts";
import { validateModelFile } from "../../../../src/speech/recognizer/whisper/model-file/index.ts";
import { modelType } from "../../../../src/speech/recognizer/whisper/model-header.ts";
import { basePath, canTranscribe, openBase, readSamples, threads } from "../../../support/whisper.ts";

const recordings = {
  de: "single/de-fleurs-003.ogg",
  fr: "single/fr-fleurs-005.ogg",
  es: "single/es-fleurs-003.ogg",
  ja: "single/ja-fleurs-1837.flac",
};

const spokenJapanese =
  "復興努力に対するリベラル派からの批判ではワシントンの内部関係者と思われる人物と復興契約を交わしたことに焦点を当てています";

describe.skipIf(!canTranscribe("language detection", ...Object.values(recordings)))("a state", () => {
  let state: WhisperState;
  beforeAll(() => {
    state = openBase().createState();
  });
  afterAll(() => state.dispose());

  test.each(Object.entries(recordings))("detects %s in %s", async (code, recording) => {
    const samples = await readSamples(recording);
    const probabilities = await state.detectLanguage(samples, threads);
    expect(probabilities[code]).toBeGreaterThan(0.5);
    expect(Object.keys(probabilities)).toEqual(openBase().languages);
    const sum = Object.values(probabilities).reduce((total, probability) => total + probability, 0);
    expect(sum).toBeCloseTo(1, 5);
  });

  // Directly after the detection in the same window, whose encoding the state still has.
  test("writes Japanese in whole characters and several words", async () => {
    const { segments } = await state.transcribe(await readSamples(recordings.ja), { language: "ja", threads });
    const text = segments.map((segment) => segment.text).join("");
    expect(text).not.toContain("\uFFFD");
    expect(errorRate([characterErrors(spokenJapanese, text)])).toBeLessThan(0.4);
    expect(segments.flatMap((segment) => segment.words).length).toBeGreaterThan(5);
  });

  test("refuses to detect a language without samples", async () => {
    await expect(state.detectLanguage(new Float32Array(0), threads)).rejects.toThrow("no samples");
  });
});

describe.skipIf(!canTranscribe("the model's languages"))("the base model", () => {
  test("is multilingual and knows 99 languages, without those of later models", () => {
    const { languages } = openBase();
    expect(modelType(validateModelFile(basePath))).toBe("base");
    expect(languages).toHaveLength(99);
    expect(languages).toContain("en");
    expect(languages).not.toContain("yue");
  });
});
