import { expect, test } from "bun:test";
import { Matcher } from "../../src/replacements/matcher.ts";

type Entry = readonly [source: string, target: string, matchesCase?: boolean];

/** Returns a text after the replacements. */
function written(text: string, ...entries: readonly Entry[]): string {
  const matcher = new Matcher(
    entries.map(([source, target, matchesCase = false]) => ({ source, target, matchesCase })),
  );
  let reached = 0;
  const parts = matcher.placesIn(text).map((place) => {
    const before = text.slice(reached, place.from);
    reached = place.to;
    return before + place.text;
  });
  return parts.join("") + text.slice(reached);
}

const cases: [what: string, text: string, entries: Entry[], expected: string][] = [
  ["words", "we use kuber netes here", [["kuber netes", "Kubernetes"]], "we use Kubernetes here"],
  ["words with other spaces between them", "Jon  \u00a0Smith", [["jon smith", "John Smyth"]], "John Smyth"],
  ["no part of a word", "cats catalogue, concat", [["cat", "dog"]], "cats catalogue, concat"],
  ["words next to punctuation", "(cat), cat. “cat”", [["cat", "dog"]], "(dog), dog. “dog”"],
  [
    "no part of a contraction",
    "don't, t’s, rock 'n' roll",
    [
      ["t", "T"],
      ["n", "and"],
    ],
    "don't, t’s, rock 'and' roll",
  ],
  ["words in quotation marks", "'cat' and cat's", [["cat", "dog"]], "'dog' and cat's"],
  ["both parts of a hyphenated word", "e-mail", [["mail", "post"]], "e-post"],
  ["without regard to case", "ACME, Acme, acme", [["acme", "ACME Ltd"]], "ACME Ltd, ACME Ltd, ACME Ltd"],
  ["in one case only if asked", "US and us", [["US", "USA", true]], "USA and us"],
  ["with the capital letter of the text", "Colour and colour", [["colour", "color"]], "Color and color"],
  [
    "with the letters of the entry if it has a capital",
    "I phone and i phone",
    [["i phone", "iPhone"]],
    "iPhone and iPhone",
  ],
  [
    "the longest entry at a word",
    "new york times",
    [
      ["new york", "NYC"],
      ["new york times", "NYT"],
      ["new", "old"],
    ],
    "NYT",
  ],
  [
    "the first of overlapping entries",
    "a b c",
    [
      ["a b", "X"],
      ["b c", "Y"],
    ],
    "X c",
  ],
  [
    "not what was written instead",
    "a",
    [
      ["a", "b"],
      ["b", "a"],
    ],
    "b",
  ],
  ["no endless text", "a a", [["a", "a a"]], "a a a a"],
  [
    "signs as they are",
    "c plus plus, c++",
    [
      ["c++", "C plus plus"],
      ["c plus plus", "C++"],
    ],
    "C++, C plus plus",
  ],
  ["signs that are special in patterns", "a.b axb a.b", [["a.b", "A"]], "A axb A"],
  [
    "brackets, stars and backslashes",
    "x(y)* \\d+ x",
    [
      ["x(y)*", "z"],
      ["d+", "digits"],
    ],
    "z \\digits x",
  ],
  ["letters with marks", "zoe\u0308 and zoe", [["zoe", "Z"]], "zoe\u0308 and Z"],
  [
    "words of Cyrillic and Greek",
    "Привет мир, Ελλάδα",
    [
      ["привет", "Здравствуй"],
      ["ελλάδα", "GR"],
    ],
    "Здравствуй мир, GR",
  ],
  ["words of scripts without spaces", "私は東京都に住む", [["東京都", "京都"]], "私は京都に住む"],
  ["words beyond the first plane", "say 𝒶𝒷 twice", [["𝒶𝒷", "ab"]], "say ab twice"],
  ["numbers", "route 66 and 660", [["66", "Sixty-six"]], "route Sixty-six and 660"],
];

test.each(cases)("replaces %s", (_, text, entries, expected) => {
  expect(written(text, ...entries)).toBe(expected);
});

test("takes time that grows with the text and not with the number of entries", () => {
  const words = Array.from({ length: 100_000 }, (_, index) => `word${index % 5000}`);
  const segments = Array.from({ length: 10_000 }, (_, index) => words.slice(index * 10, index * 10 + 10).join(" "));
  const secondsFor = (entries: number) => {
    const list = Array.from({ length: entries }, (_, index) => ({
      source: `word${index * 3} word${index * 3 + 1}`,
      target: "together",
      matchesCase: false,
    }));
    const matcher = new Matcher(list);
    const startedAt = performance.now();
    const places = segments.reduce((sum, text) => sum + matcher.placesIn(text).length, 0);
    expect(places).toBeGreaterThan(entries);
    return performance.now() - startedAt;
  };
  secondsFor(10);
  const [few, many] = [secondsFor(10), secondsFor(1000)];
  expect(many).toBeLessThan(20 * few + 500);
});

test("is not slowed down by hostile texts and entries", () => {
  const startedAt = performance.now();
  // A thousand entries that begin with the same word, which the text repeats.
  const same = Array.from({ length: 1000 }, (_, index) => [`a ${"a ".repeat(40)}${index}`, "x"] as const);
  expect(written("a ".repeat(10_000), ...same)).toBe("a ".repeat(10_000));
  expect(written("'".repeat(20_000), ["a", "b"])).toBe("'".repeat(20_000));
  expect(written("a'".repeat(10_000), ["a", "b"])).toHaveLength(20_000);
  expect(written(`a${" ".repeat(20_000)}b`, ["a b c", "x"])).toHaveLength(20_002);
  expect(written(`${"a ".repeat(10_000)}`, ["a a a a a b", "x"])).toBe("a ".repeat(10_000));
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
