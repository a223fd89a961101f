import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAccount } from "../../src/accounts/index.ts";
import { indexMissing, SearchQuery, searchRecordings } from "../../src/search/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { countTurnsUntilSettled } from "../support/event-loop-turns.ts";
import { Shelf } from "../support/shelf.ts";

/** A database in which recordings of several accounts follow each other. */
class SharedShelf extends Shelf implements Disposable {
  readonly #accounts = new Map<string, string>();

  constructor() {
    let now = Date.now();
    super(() => now++);
  }

  idOf(name: string): string {
    const id = this.#accounts.get(name) ?? createAccount(this.store, name, { actor: "operator", now: 1 }).id;
    this.#accounts.set(name, id);
    return id;
  }

  /** Adds a completed recording. @returns its id */
  add(account: string, ...texts: readonly string[]): string {
    const segments = texts.map((text, index): Segment => {
      return { index, startSeconds: index, endSeconds: index + 1, speaker: 0, text, words: [] };
    });
    return this.completed(segments, { accountId: this.idOf(account), sourceName: "x" }).recording.id;
  }

  /** Adds one-line recordings of an account directly to the index, at every other number from one on. */
  addIndexed(account: string, from: number, textsOf: Readonly<Record<string, number>>): void {
    const template = this.add(account, "template");
    const { $client } = this.store;
    const columns = $client
      .query<{ name: string }, []>("SELECT name FROM pragma_table_info('recordings') WHERE name <> 'id'")
      .all()
      .map(({ name }) => name)
      .join(", ");
    let number = from;
    for (const [text, count] of Object.entries(textsOf)) {
      // The number of a recording is also the end of its id.
      $client.run(`INSERT INTO recordings (id, ${columns})
        SELECT substr(id, 1, 19) || printf('%017d', ${number} + 2 * value), ${columns}
        FROM recordings, (${numbersBelow(count)}) WHERE id = '${template}'`);
      $client.run(`INSERT INTO searchable_recordings (number, recording_id, is_whole)
        SELECT ${number} + 2 * value, substr('${template}', 1, 19) || printf('%017d', ${number} + 2 * value), 1
        FROM (${numbersBelow(count)})`);
      $client.run(`INSERT INTO searchable_texts (rowid, text)
        SELECT (${number} + 2 * value) << 21, '${text}' FROM (${numbersBelow(count)})`);
      number += 2 * count;
    }
  }

  async search(q: string, limit: number, before: number | null = null, accounts: readonly string[] = ["mine"]) {
    const ids = accounts.map((name) => this.idOf(name));
    const { found, next } = await searchRecordings(this.store, new SearchQuery(q), ids, {}, before, limit);
    return { found: found.map(({ recording, segments }) => [recording.id, segments] as const), next };
  }

  index(): Promise<void> {
    return indexMissing(this.store, new AbortController().signal);
  }

  [Symbol.dispose](): void {
    this.store.$client.close();
  }
}

const numbersBelow = (count: number) =>
  `WITH RECURSIVE numbers (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM numbers LIMIT ${count}) SELECT value FROM numbers`;

describe("the search of a viewer who does not see all accounts", () => {
  const queries = ["globex ", "umbrella ", '"merger with globex"', '"merger with umbrella"', "glob", "umbr"];

  test("has the same pages with and without matches in other accounts", async () => {
    const pagesWith = async (secret: string) => {
      using shelf = new SharedShelf();
      const mine: string[] = [];
      const add = (...texts: readonly string[]) => mine.push(shelf.add("mine", ...texts));
      for (let count = 0; count < 3; count++) shelf.add("secret", secret);
      add("globex", "umbrella", "the merger with globex", "the merger with umbrella");
      shelf.add("secret", ...Array.from({ length: 500 }, () => secret));
      add("nothing of it");
      // More than the search reads before it skips the rest.
      for (let count = 0; count < 210; count++) shelf.add("secret", secret);
      add("umbrella", "globex");
      shelf.add("secret", secret);
      await shelf.index();
      const pages: unknown[] = [];
      for (const q of queries) {
        for (const limit of [1, 2, 10]) {
          let before: number | null = null;
          do {
            const { found, next } = await shelf.search(q, limit, before);
            pages.push([q, limit, found.map(([id, segments]) => [mine.indexOf(id), segments]), next !== null]);
            before = next;
          } while (before !== null);
        }
      }
      return pages;
    };
    const without = await pagesWith("something else");
    expect(await pagesWith("the merger with globex")).toEqual(without);
    expect(await pagesWith("the merger with umbrella")).toEqual(without);
    expect(without.slice(0, 2)).toEqual([
      ["globex ", 1, [[2, [1]]], true],
      ["globex ", 1, [[0, [0, 2]]], false],
    ]);
  });

  test("finds the first matching segments of each recording of the viewer's accounts, newest first", async () => {
    using shelf = new SharedShelf();
    const added = Array.from({ length: 60 }, (_, count) => {
      const account = ["mine", "ours", "other"][(count * 7) % 3] ?? "";
      const rows = Array.from({ length: count % 9 === 0 ? 450 : 2 }, (_, row) => (row % 4 < 3 ? "harbour" : "port"));
      return { account, rows, id: shelf.add(account, ...rows) };
    });
    await shelf.index();
    for (const [q, word] of [
      ["harbour ", "harbour"],
      ["harb", "harbour"],
      ["port ", "port"],
    ] as const) {
      const expectedIn = (accounts: readonly string[]) =>
        added.toReversed().flatMap(({ account, rows, id }) => {
          const matching = rows.flatMap((text, row) => (text === word ? [row] : []));
          return accounts.includes(account) && matching.length > 0 ? [[id, matching.slice(0, 3)] as const] : [];
        });
      const { found, next } = await shelf.search(q, 100, null, ["mine", "ours"]);
      expect([found, next]).toEqual([expectedIn(["mine", "ours"]), null]);
      const everywhere = await searchRecordings(shelf.store, new SearchQuery(q), "all", {}, null, 100);
      expect(everywhere.found.map(({ recording, segments }) => [recording.id, segments] as const)).toEqual(
        expectedIn(["mine", "ours", "other"]),
      );
    }
    expect((await shelf.search("harbour ", 100, null, [])).found).toEqual([]);
  });
});

describe("next to 100,000 matches in another account", () => {
  let shelf: SharedShelf;
  beforeAll(() => {
    shelf = new SharedShelf();
    shelf.addIndexed("other", 2_000_000, { harbour: 100_000 });
    shelf.addIndexed("large", 2_000_001, { sunrise: 10_100, harbour: 1 });
    shelf.add("mine", "sunrise");
  });
  afterAll(() => shelf[Symbol.dispose]());

  test("a search passes over them, and yields to other requests", async () => {
    for (const [q, account, count, leastTurns] of [
      ["harbour ", "mine", 0, 0],
      ["harb", "mine", 0, 0],
      ["harbour ", "large", 1, 2],
      ["harb", "large", 1, 2],
    ] as const) {
      const search = shelf.search(q, 10, null, [account]);
      expect(await countTurnsUntilSettled(search)).toBeGreaterThanOrEqual(leastTurns);
      expect((await search).found).toHaveLength(count);
    }
  });

  test("a search of all accounts examines about a thousand, and the next page continues below them", async () => {
    const filter = { accountId: shelf.idOf("large") };
    const page = (before: number | null) =>
      searchRecordings(shelf.store, new SearchQuery("harbour "), "all", filter, before, 10);
    const first = await page(null);
    const second = await page(first.next);
    expect([first.found, second.found]).toEqual([[], []]);
    // Every other number has a recording.
    expect((first.next ?? 0) - (second.next ?? 0)).toBeWithin(2000, 2500);
  });
});

test("a search of all accounts for the beginning of a word ends after about 50,000 matching segments", async () => {
  using shelf = new SharedShelf();
  shelf.addIndexed("other", 2_000_000, { sunrise: 40 });
  shelf.store.$client.run(`INSERT INTO searchable_texts (rowid, text)
    SELECT (number << 21) + 1 + value, 'harbour' FROM searchable_recordings, (${numbersBelow(5000)})`);
  const filter = { accountId: shelf.idOf("mine") };
  const found: number[] = [];
  let before: number | null = null;
  do {
    const page = await searchRecordings(shelf.store, new SearchQuery("harb"), "all", filter, before, 10);
    if (page.next !== null) found.push(page.next);
    before = page.next;
  } while (before !== null);
  // Ten recordings for each page, of which every other number has one.
  expect(found).toEqual([2_000_060, 2_000_040, 2_000_020, 2_000_000]);
});
