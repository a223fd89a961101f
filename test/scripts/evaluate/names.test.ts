import { expect, test } from "bun:test";
import { plainWords } from "../../../harness/wer.ts";
import type { Reference } from "../../../tools/corpus/index.ts";
import { countNames, promptFor } from "../../../tools/evaluate/hints.ts";

const normalise = (_language: string, text: string) => plainWords(text.replaceAll("-", " "));
const recording = (text: string, language = "en") => ({ language, text }) as Reference;

test("a recording gets the prompt of its language only if a name of it was said", () => {
  expect(promptFor(normalise, recording("tell me quoth zau al makan"))).toContain("Zau al-Makan, Nuzhat al-Zaman");
  expect(promptFor(normalise, recording("tell me what happened"))).toBeNull();
  expect(promptFor(normalise, recording("zau al makan", "ko"))).toBeNull();
});

test("a name counts as found as often as it was said, and as invented beyond that", () => {
  const said = recording("polly saw helstone and polly saw zau al makan");
  expect(countNames(normalise, said, "Polly saw Elstone and Polly saw Zau al-Makan.")).toEqual({
    ...{ said: 4, found: 3, invented: 0 },
  });
  expect(countNames(normalise, said, "Helstone, Helstone, Sintra, Zau al Mekan")).toEqual({
    ...{ said: 4, found: 1, invented: 2 },
  });
});
