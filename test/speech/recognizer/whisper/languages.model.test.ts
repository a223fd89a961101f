import { describe, expect, test } from "bun:test";
import { characterErrors, errorRate } from "../../../../harness/wer.ts";
import { validateModelFile } from "../../../../src/speech/recognizer/whisper/model-file/index.ts";
import { modelType } from "../../../../src/speech/recognizer/whisper/model-header.ts";
import { basePath, canTranscribe, openBase, readSamples, threads } from "./support.ts";

const recordings = {
  de: "single/de-fleurs-003.ogg",
  fr: "single/fr-fleurs-005.ogg",
  es: "single/es-fleurs-003.ogg",
  ja: "single/ja-fleurs-1837.flac",
};

const spokenJapanese =
  "復興努力に対するリベラル派からの批判ではワシントンの内部関係者と思われる人物と復興契約を交わしたことに焦点を当てています";

describe.skipIf(!canTranscribe("language detection", ...Object.values(recordings)))("a state", () => {
  test.each(Object.entries(recordings))("detects %s in %s", async (code, recording) => {
    const state = openBase().createState();
    try {
      const probabilities = await state.detectLanguage(await readSamples(recording), threads);
      expect(probabilities[code]).toBeGreaterThan(0.5);
      expect(Object.keys(probabilities)).toEqual(openBase().languages);
      const sum = Object.values(probabilities).reduce((total, probability) => total + probability, 0);
      expect(sum).toBeCloseTo(1, 5);
    } finally {
      state.dispose();
    }
  });

  test("refuses to detect a language without samples", async () => {
    const state = openBase().createState();
    await expect(state.detectLanguage(new Float32Array(0), threads)).rejects.toThrow("no samples");
    state.dispose();
  });

  test("writes Japanese in whole characters and several words", async () => {
    const state = openBase().createState();
    try {
      const samples = await readSamples(recordings.ja);
      const { segments } = await state.transcribe(samples, { language: "ja", threads });
      const text = segments.map((segment) => segment.text).join("");
      expect(text).not.toContain("\uFFFD");
      expect(errorRate([characterErrors(spokenJapanese, text)])).toBeLessThan(0.4);
      expect(segments.flatMap((segment) => segment.words).length).toBeGreaterThan(5);
    } finally {
      state.dispose();
    }
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
