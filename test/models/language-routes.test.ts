import { describe, expect, test } from "bun:test";
import { smallParakeet, tinyModel } from "../../harness/parakeet/random-model.ts";
import { smallSizes, smallWhisper } from "../../harness/whisper/small-models.ts";
import { parseLanguageRoutes } from "../../src/models/index.ts";
import { SpeechLibrary } from "../support/models.ts";

describe("the setting of models by language", () => {
  test("lists codes for each model, and one model for the rest", () => {
    const { byCode, rest } = parseLanguageRoutes(["de fr: parakeet-v3", " *:whisper-small", "ja: whisper-medium"]);
    expect([...byCode]).toEqual([
      ["de", "parakeet-v3"],
      ["fr", "parakeet-v3"],
      ["ja", "whisper-medium"],
    ]);
    expect(rest).toBe("whisper-small");
  });

  test.each([
    ["de", '"de" must be'],
    ["de:", "must be"],
    [": model", "must be"],
    ["de,fr: model", "must be"],
    ["DE: model", "must be"],
    ["de: /models/x.bin", "must be"],
    ["de: ../x", "must be"],
    ["de de: model", "de is listed twice"],
    ["*: a, *: b", "must be"],
  ])("refuses %p", (entry, message) => {
    expect(() => parseLanguageRoutes([entry])).toThrow(message);
  });

  test("refuses a second model for the rest", () => {
    expect(() => parseLanguageRoutes(["*: a", "*: b"])).toThrow("* is listed twice");
  });
});

const files = {
  european: smallParakeet({ ...tinyModel, vocabulary: 8192, layers: 1 }).bytes,
  english: smallParakeet({ ...tinyModel, layers: 1 }).bytes,
};
const whisper = smallWhisper({ ...smallSizes, vocabulary: 51_865 }).bytes;

/** A library with a model of 25 languages that detects none, one of English only, and the built-in Whisper model. */
async function library(): Promise<SpeechLibrary> {
  const place = new SpeechLibrary(whisper);
  for (const [name, bytes] of Object.entries(files)) await place.import(place.file(`${name}.bin`, bytes));
  return place;
}

describe("models by language", () => {
  test("get the languages that the setting lists, and the model in use gets the others", async () => {
    using place = await library();
    const speech = place.speech({ routes: ["de fr: european", "en: english"] });
    speech.requireRoutes();
    expect(speech.routes().map(({ model, codes }) => [model.id, codes])).toEqual([
      ["european", ["de", "fr"]],
      ["english", ["en"]],
    ]);
    expect(speech.companionOf(speech.current())).toBeNull();
    expect(speech.languagesOf(speech.current())).toHaveLength(99);
    expect([speech.isRouted("english"), speech.isRouted("whisper-base")]).toEqual([true, false]);
  });

  test("without a setting have the built-in model as the companion of one that detects no languages", async () => {
    using place = await library();
    const speech = place.speech();
    const european = speech.find("european");
    if (european === null) throw new Error("it is not installed");
    expect(speech.companionOf(european)?.id).toBe("whisper-base");
    expect(speech.languagesOf(european)).toHaveLength(99);
    expect(speech.languagesOf(european).map(({ code }) => code)).toEqual(expect.arrayContaining(["ja", "mt"]));
  });

  test.each([
    [["de: missing"], "no model missing is installed"],
    [["de: english"], "english does not know the language de"],
    [["*: missing"], "no model missing is installed"],
    [["*: european"], "european detects no languages"],
  ])("are refused at the start if the setting is %p", async (entries, message) => {
    using place = await library();
    const speech = place.speech({ routes: entries });
    expect(() => speech.requireRoutes()).toThrow(message);
  });
});
