import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { smallSizes, smallWhisper } from "../../harness/whisper/small-models.ts";
import { openDatabase } from "../../src/database/index.ts";
import { ModelLibrary, SpeechModels } from "../../src/models/index.ts";
import { canTranslate } from "../../src/speech/index.ts";

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());

const multilingual = { ...smallSizes, vocabulary: 51_865 };
const models = {
  multilingual: () => smallWhisper(multilingual).bytes,
  english: () => smallWhisper(smallSizes).bytes,
  turbo: () => smallWhisper({ ...multilingual, vocabulary: 51_866, audioLayers: 2, textLayers: 1 }).bytes,
};

function write(name: keyof typeof models): string {
  const path = join(directory.path, `${name}.bin`);
  writeFileSync(path, models[name]());
  return path;
}

test.each([
  ["multilingual", true],
  // OpenAI's models for English alone.
  ["english", false],
  // Turbo and distilled models have fewer layers in the decoder than in the encoder.
  ["turbo", false],
] as const)("a %s Whisper model translates: %p", (name, expected) => {
  expect(canTranslate(write(name))).toBe(expected);
});

test("a Parakeet model does not translate", () => {
  const path = join(directory.path, "parakeet.bin");
  writeRandomModel(path, tinyModel);
  expect(canTranslate(path)).toBe(false);
});

test("the refusal names the model, and the installed models that translate", () => {
  const root = join(directory.path, "models");
  mkdirSync(root, { recursive: true });
  const speech = (builtIn: keyof typeof models, setting: keyof typeof models) =>
    new SpeechModels({
      store: openDatabase(":memory:"),
      library: new ModelLibrary(root),
      builtInPath: write(builtIn),
      setting: write(setting),
      routes: { byCode: new Map(), rest: null },
    });
  const refusal = (models: SpeechModels) => models.translationRefusal(models.current().id);
  expect(refusal(speech("english", "multilingual"))).toBeNull();
  expect(refusal(speech("multilingual", "turbo"))).toBe(
    "The model turbo.bin does not translate. These installed models do: whisper-base.",
  );
  expect(refusal(speech("english", "turbo"))).toBe(
    "The model turbo.bin does not translate. No installed model translates; install one, such as whisper-base: transcribe models pull whisper-base.",
  );
});
