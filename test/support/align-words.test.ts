import { expect, test } from "bun:test";
import { alignEarly, alignWords } from "../../harness/align-words.ts";

test("words are aligned across deletions, insertions and substitutions", () => {
  expect(alignWords(["we", "all", "go", "home"], ["oh", "we", "go", "gnome"])).toEqual([
    [0, 1],
    [2, 2],
    [3, 3],
  ]);
  expect(alignWords([], ["we"])).toEqual([]);
  expect(alignWords(["we"], [])).toEqual([]);
});

test("of equal words the last one is paired, or the first one on request", () => {
  const said = ["her", "father", "and", "her", "mother", "and", "her"];
  expect(alignWords(said, ["her", "father", "and", "her"]).at(-1)).toEqual([6, 3]);
  expect(alignEarly(said, ["her", "father", "and", "her"]).at(-1)).toEqual([3, 3]);
  expect(alignEarly(["we", "all", "go"], ["we", "go"])).toEqual([
    [0, 0],
    [2, 1],
  ]);
});
