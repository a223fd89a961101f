import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { contradictsLanguage } from "../../src/pipeline/contradicts-language.ts";
import { corpusPath } from "../support/checkout.ts";

const wordsOf = (text: string) => text.split(" ").map((word) => ({ text: ` ${word}` }));

describe("words contradict a language", () => {
  test.each<[string, string, string, boolean]>([
    ["in its own script", "ru", "Привет, как дела", false],
    ["in Latin letters instead of Cyrillic", "ru", "Privet, kak dela", true],
    ["in Cyrillic instead of Latin letters", "de", "Гутен Таг", true],
    ["in Cyrillic instead of Greek", "el", "Добрый день", true],
    ["with a foreign name", "ru", "Сегодня OpenAI показала новую модель", false],
    ["without letters", "de", "1, 2, 3", false],
    ["none", "de", "", false],
    ["English instead of German", "de", "and that is what they would have said about the house", true],
    ["English as such", "en", "and that is what they would have said about the house", false],
    ["a short English quotation", "fr", "il a dit the show must go on et voilà que tout le monde part", false],
    ["too few to be sure", "de", "what the", false],
  ])("%s (%s)", (_, code, text, expected) => {
    expect(contradictsLanguage(wordsOf(text), code)).toBe(expected);
  });

  const manifest = corpusPath("manifest.json");
  test.skipIf(!existsSync(manifest))("only where the corpus has another language", () => {
    const recordings = JSON.parse(readFileSync(manifest, "utf8")) as {
      language: string | null;
      transcript: string | null;
    }[];
    const european = new Set(["de", "en", "es", "fr", "it", "pt", "ru"]);
    const texts = recordings.flatMap(({ language, transcript }) => {
      const code = language?.slice(0, 2) ?? "";
      return transcript === null || !european.has(code) ? [] : { code, words: wordsOf(transcript) };
    });
    expect(texts.length).toBeGreaterThan(60);
    expect(texts.filter(({ code, words }) => contradictsLanguage(words, code))).toEqual([]);
    const english = texts.filter(({ code, words }) => code === "en" && words.length > 20);
    const found = english.filter(({ words }) => contradictsLanguage(words, "de")).length;
    expect(found / english.length).toBeGreaterThan(0.8);
  });
});
