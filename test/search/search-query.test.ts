import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { indexedText, SearchQuery } from "../../src/search/search-query.ts";
import { snippetOf } from "../../src/search/snippet.ts";

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
    ["학교", '"학 교"'],
    ["물", '"물"'],
    ['"한국 사람"', '"한 국 \ue000 사 람"'],
    ["“good morning” to", '"good morning" "to"'],
    ["don’t", '"don t"'],
    ["đường", '"duong"*'],
    ["ＩĞDIR", '"igdir"*'],
    ["co\u00adoperate", '"cooperate"*'],
    ["a* OR b) NOT (c", '"a" "or" "b" "not" "c"'],
    ['" " ""', ""],
    ["—…!", ""],
  ];
  test.each(cases)("%p becomes the index expression %p", (text, expression) => {
    const query = new SearchQuery(text);
    expect(query.expression).toBe(expression);
    expect(query.isEmpty).toBe(expression === "");
  });

  test.each([
    ["학교에서 봅시다.", "학교", ["학교"]],
    ["대학교와 학교", "학교", ["학교", "학교"]],
    ["물이 있다", "물", ["물"]],
    ["다시 장사를 한다", "시장", []],
    ["선물 이야기", "물이", []],
    ["이 시장에서", "시장", ["시장"]],
    ["한국어".normalize("NFD"), "국어", ["국어".normalize("NFD")]],
    ["Rue Ørsted, Łódź", "orsted lodz ", ["Ørsted", "Łódź"]],
    ["die STRASSE", "straße ", ["STRASSE"]],
    ["đi đường này", "duong ", ["đường"]],
    ["وكِتَابٌ كِتَابٌ", "كتاب ", ["كِتَابٌ"]],
    ["L’été, l'eau", "l'eau ", ["l'eau"]],
    ["東京へ行く", "京", ["京"]],
    ["ไปโรงเรียน", "โรงเรียน", ["โรงเรียน"]],
  ] as [string, string, string[]][])("in %p, %p marks %p", (text, query, marked) => {
    expect(cut(text, new SearchQuery(query).marksIn(text))).toEqual(marked);
  });

  test("is marked in exactly the texts that the index finds", () => {
    using database = new Database(":memory:");
    database.run("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'ascii')");
    const texts = [
      "Guten Tag, Straße und Ärzte",
      "हिन्दी में बात करते हैं",
      "สวัสดีครับ",
      "한국어로 말하기",
      "학교에서 선물이 온다",
      "다시 장사를 한다",
      "한국어".normalize("NFD"),
      "کتاب و كِتَابٌ",
      "שָׁלוֹם עוֹלָם",
      "Ⅷ ½ ㎏ ﷺ ①②",
      "LG전자 2024년 서울",
      "コーヒー ｶﾞｽ",
      "𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪",
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
