import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { findAll } from "../../../src/recordings/search/folded-text.ts";
import { indexedText, SearchQuery } from "../../../src/recordings/search/search-query.ts";
import { snippetOf } from "../../../src/recordings/search/snippet.ts";

const cut = (text: string, spans: readonly (readonly [number, number])[]) =>
  spans.map(([from, to]) => text.slice(from, to));

describe("a search query", () => {
  const cases: [string, string][] = [
    ["hello", '"hello"*'],
    ["Hello World", '"hello" "world"*'],
    ["hello ", '"hello"'],
    ["ab", '"ab"'],
    ['say "good morning" to', '"say" "good morning" "to"'],
    ['"good morn', '"good morn"*'],
    ['"good morn"', '"good morn"'],
    ["don't", '"don t"'],
    ["Über-Cafe\u0301", '"uber cafe"*'],
    ["東京都", '"東 京 都"'],
    ["日本 sushi", '"日 本" "sushi"*'],
    ["a* OR b) NOT (c", '"a" "or" "b" "not" "c"'],
    ['" " ""', ""],
    ["—…!", ""],
  ];
  test.each(cases)("%p becomes the index expression %p", (text, expression) => {
    const query = new SearchQuery(text);
    expect(query.expression).toBe(expression);
    expect(query.isEmpty).toBe(expression === "");
  });

  test("is marked in exactly the texts that the index finds", () => {
    using database = new Database(":memory:");
    database.run(
      "CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = \"unicode61 remove_diacritics 0 categories 'L* M* N* Co'\")",
    );
    const texts = [
      "Guten Tag, Straße und Ärzte",
      "हिन्दी में बात करते हैं",
      "สวัสดีครับ",
      "한국어로 말하기",
      "ΟΔΟΣ οδός",
      "Всё хорошо, йод",
      "naïve coöperation — déjà vu",
      "10,000 segments at 60 fps",
      "emoji 👍🏽 and 𝒻ancy",
    ];
    for (const [row, text] of texts.entries()) {
      database.run("INSERT INTO texts (rowid, text) VALUES (?, ?)", [row, indexedText(text)]);
    }
    const queries = texts.flatMap((text) => [text, ...text.split(" "), text.slice(0, 4), text.toUpperCase()]);
    const search = database.query<{ row: number }, [string]>("SELECT rowid AS row FROM texts WHERE texts MATCH ?");
    for (const text of queries) {
      const query = new SearchQuery(text);
      if (query.isEmpty) continue;
      const found = search.all(query.expression).map(({ row }) => row);
      const marked = texts.flatMap((each, row) => (query.marksIn(each).length > 0 ? [row] : []));
      for (const row of found) expect(marked).toContain(row);
      // Each of several words is marked at its position; together they must be in one text.
      const isOne = !query.expression.includes('" "');
      if (isOne) expect([text, found]).toEqual([text, marked]);
    }
  });
});

describe("the marks of a query", () => {
  const cases: [string, string, string[]][] = [
    ["Die Ärzte, die ärzte", "arzte", ["Ärzte", "ärzte"]],
    ["cafe\u0301 café", "café", ["cafe\u0301", "café"]],
    ["aaaa", "aa", ["aa", "aa"]],
    ["a  b a b", " a b ", ["a b"]],
    ["ΟΔΟΣ", "οδός", ["ΟΔΟΣ"]],
    ["İstanbul", "istanbul", ["İstanbul"]],
    ["👍🏽 ok", "ok", ["ok"]],
    ["anything", "", []],
    ["anything", " ", []],
  ];
  test.each(cases)("in %p of %p are %p", (text, wanted, found) => {
    expect(cut(text, findAll(text, wanted))).toEqual(found);
  });
});

describe("a snippet", () => {
  test("contains the whole of a short text", () => {
    expect(snippetOf("a short text", [[2, 7]])).toEqual({ text: "a short text", marks: [[2, 7]] });
  });

  test("never splits a character of a text without spaces", () => {
    for (let shift = 0; shift < 4; shift++) {
      const text = "x".repeat(shift) + "𝒻".repeat(300);
      const at = shift + 200;
      const { text: shown, marks } = snippetOf(text, [[at, at + 2]]);
      expect(shown.isWellFormed()).toBe(true);
      expect(cut(shown, marks)).toEqual(["𝒻"]);
    }
  });

  test("has the marks of the text that it shows, at their new positions", () => {
    const text = `${"word ".repeat(60)}here and here ${"word ".repeat(60)}here`;
    const marks = [...text.matchAll(/here/g)].map(({ index }): [number, number] => [index, index + 4]);
    const snippet = snippetOf(text, marks);
    expect(cut(snippet.text, snippet.marks)).toEqual(["here", "here"]);
    expect(snippet.text.length).toBeLessThanOrEqual(162);
  });
});
