import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { type FoundRecording, findSchema, recordingPageSchema } from "../../../src/console/contract/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";

setDefaultTimeout(60_000);

const search = async (browser: Browser, q: string, rest = "") => {
  const page = await browser.read(`/recordings?q=${encodeURIComponent(q)}${rest}`, recordingPageSchema);
  return { ...page, recordings: page.recordings as FoundRecording[] };
};

/** Returns a text with its marks in brackets. */
function marked(text: string, marks: readonly (readonly number[])[]): string {
  return marks.toReversed().reduce((rest, [from = 0, to = 0]) => {
    return `${rest.slice(0, from)}[${rest.slice(from, to)}]${rest.slice(to)}`;
  }, text);
}

describe("the search in transcripts", () => {
  const texts = [
    "Good morning, everybody.",
    "The Café on the corner — crème brûlée!",
    "Straße und Ärzte: über alles.",
    "Мы всё сказали.",
    "私は東京に行きます。",
    "مرحبا بالعالم",
    "Don't you know the others' plans?",
    "학교에서 물이 나온다",
    "đi đường này",
    "Iğdır'da, IĞDIR'da",
    "هذا كِتَابٌ أحمر",
    "שָׁלוֹם לכולם",
    "We don’t, he won’t.",
  ];
  const cases: [string, string[]][] = [
    ["morning", ["Good [morning], everybody."]],
    ["EVERYBODY good", ["[Good] morning, [everybody]."]],
    ["cafe", ["The [Café] on the corner — crème brûlée!"]],
    ["creme brulee", ["The Café on the corner — [crème] [brûlée]!"]],
    ["arzte über", ["Straße und [Ärzte]: [über] alles."]],
    ["все", ["Мы [всё] сказали."]],
    ["東京", ["私は[東京]に行きます。"]],
    ["بالعالم", ["مرحبا [بالعالم]"]],
    ["don't", ["[Don't] you know the others' plans?", "We [don’t], he won’t."]],
    ["don’t", ["[Don't] you know the others' plans?", "We [don’t], he won’t."]],
    ["학교", ["[학교]에서 물이 나온다"]],
    ["물", ["학교에서 [물]이 나온다"]],
    ["물이 학교", ["[학교]에서 [물이] 나온다"]],
    ["서물", []],
    ["京", ["私は東[京]に行きます。"]],
    ["duong", ["đi [đường] này"]],
    ["Đường", ["đi [đường] này"]],
    ["strasse", ["[Straße] und Ärzte: über alles."]],
    ["ığdır ", ["[Iğdır]'da, [IĞDIR]'da"]],
    ["İĞDİR ", ["[Iğdır]'da, [IĞDIR]'da"]],
    ["igdir ", ["[Iğdır]'da, [IĞDIR]'da"]],
    ["كتاب احمر", ["هذا [كِتَابٌ] [أحمر]"]],
    ["كـتَاب ", ["هذا [كِتَابٌ] أحمر"]],
    ["שלום", ["[שָׁלוֹם] לכולם"]],
    ['"know the others"', ["Don't you [know the others]' plans?"]],
    ['"know others"', []],
    ["morn", ["Good [morning], everybody."]],
    ["morn ", []],
    ["orning", []],
    ["morning plans", []],
    ["OR", []],
    ["*", []],
    ['" AND NEAR(', []],
    ["text:good", []],
    ["x'; DROP TABLE segments; --", []],
  ];
  test("finds and marks words in any case and with any accents, the last one as a prefix, and phrases in quotation marks", async () => {
    using server = new ConsoleServer();
    await server.enterSaid("first", texts);
    const operator = await server.operator();
    for (const [q, expected] of cases) {
      const { recordings } = await search(operator, q);
      const found = recordings.flatMap(({ hits }) => hits.map(({ text, marks }) => marked(text, marks)));
      expect([q, found]).toEqual([q, expected]);
    }
  });

  test("in one transcript finds the same forms, at their places", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", texts);
    const operator = await server.operator();
    const cases: [string, string[]][] = [
      ["don't", ["[Don't] you know the others' plans?", "We [don’t], he won’t."]],
      ["DON’T", ["[Don't] you know the others' plans?", "We [don’t], he won’t."]],
      ["duong", ["đi [đường] này"]],
      ["stras", ["[Straß]e und Ärzte: über alles."]],
      ["ıĞDir", ["[Iğdır]'da, [IĞDIR]'da"]],
      ["교에서 물", ["학[교에서 물]이 나온다"]],
      ["كتاب احمر", ["هذا [كِتَابٌ أحمر]"]],
      ["שלום", ["[שָׁלוֹם] לכולם"]],
    ];
    for (const [q, expected] of cases) {
      const { matches } = await operator.read(`/recordings/${id}/find?q=${encodeURIComponent(q)}`, findSchema);
      expect([q, matches.map(({ segment, marks }) => marked(texts[segment] ?? "", marks))]).toEqual([q, expected]);
    }
  });

  test("reports the first three hits of each recording, with their times", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid(
      "first",
      Array.from({ length: 300 }, (_, place) => (place % 10 === 4 ? "an apple" : "a pear")),
    );
    const few = await server.enterSaid("first", ["no", "an apple"]);
    const { recordings } = await search(await server.operator(), "apple");
    expect(
      recordings.map((each) => [each.id, each.hits.map(({ segment, start }) => [segment, start]), each.has_more_hits]),
    ).toEqual([
      [few, [[1, 1]], false],
      [
        id,
        [
          [4, 4],
          [14, 14],
          [24, 24],
        ],
        true,
      ],
    ]);
  });

  test("shows the excerpt of a long text around the hit", async () => {
    using server = new ConsoleServer();
    const filler = (word: string) => Array.from({ length: 40 }, () => word).join(" ");
    await server.enterSaid("first", [`${filler("before")} needle ${filler("after")}`]);
    const [found] = (await search(await server.operator(), "needle")).recordings;
    const [hit] = found?.hits ?? [];
    expect(hit?.text.length).toBeLessThan(180);
    expect(marked(hit?.text ?? "", hit?.marks ?? [])).toMatch(/^…before( before)* \[needle\] after( after)*…$/);
  });

  test("finds recordings by their names, including failed ones", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const id = await server.enterSaid("first", ["hello"], "Vorstand Übergabe 2026");
    const failed = api.enterFailed(api.account("first").id, { sourceName: "Übergabe (defekt)" });
    await server.searched();
    const { recordings } = await search(await server.operator(), "ubergabe");
    expect(recordings.map((each) => [each.id, marked(each.source.name ?? "", each.name_marks), each.hits])).toEqual([
      [failed, "[Übergabe] (defekt)", []],
      [id, "Vorstand [Übergabe] 2026", []],
    ]);
  });

  test("has pages, newest first, and applies a filter", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const sales = api.workspace("second", "sales");
    const entered: string[] = [];
    for (let count = 0; count < 7; count++) entered.unshift(await server.enterSaid("first", ["an apple"]));
    const inSales = api.enterCompleted(api.account("second").id, 1, { workspaceId: sales.id, sourceName: "apple" });
    await server.searched();
    const operator = await server.operator();
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await search(operator, "apple", `&limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.recordings.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual([inSales, ...entered]);
    for (const filter of [`workspace=${sales.id}`, `account=${sales.accountId}`]) {
      expect((await search(operator, "apple", `&${filter}`)).recordings.map(({ id }) => id)).toEqual([inSales]);
    }
    expect((await search(operator, "apple", "&status=failed")).recordings).toEqual([]);
  });

  test("indexes in the background the recordings that had ended before the console was enabled", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    await server.console?.close();
    const { id: account } = api.account("first");
    const before = Array.from({ length: 3 }, () => api.enterCompleted(account, 150)).reverse();
    await api.restart();
    const operator = await server.operator();
    while ((await search(operator, "segment")).is_partial === true) await Bun.sleep(5);
    expect((await search(operator, "segment 149")).recordings.map(({ id }) => id)).toEqual(before);
  });
});
