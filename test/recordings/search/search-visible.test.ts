import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newRecording } from "../../../harness/new-recording.ts";
import { type Account, createAccount } from "../../../src/accounts/index.ts";
import {
  indexMissing,
  Recordings,
  SearchQuery,
  type Segment,
  searchRecordings,
  searchVisible,
} from "../../../src/recordings/index.ts";
import { openDatabase, type Store } from "../../../src/storage/index.ts";
import { countTurnsUntilSettled } from "../../support/event-loop-turns.ts";

/** A database in which recordings of several accounts follow each other. */
class Shelf implements Disposable {
  readonly store: Store = openDatabase(":memory:");
  readonly #recordings = new Recordings(this.store, () => this.#now++);
  readonly #accounts = new Map<string, Account>();
  #now = Date.now();

  accountId(name: string): string {
    const account = this.#accounts.get(name) ?? createAccount(this.store, name, { actor: "operator", now: 1 });
    this.#accounts.set(name, account);
    return account.id;
  }

  /** Adds a completed recording. @returns its id */
  add(account: string, ...texts: readonly string[]): string {
    const id = Bun.randomUUIDv7();
    this.#recordings.create(newRecording(id, this.accountId(account), { sourceName: "x" }));
    this.#recordings.claim(id);
    this.#recordings.complete(
      id,
      texts.map((text, index): Segment => {
        return { index, startSeconds: index, endSeconds: index + 1, speaker: 0, text, words: [] };
      }),
    );
    return id;
  }

  /** Adds one-line recordings of an account directly to the index, as if there were very many. */
  addIndexed(account: string, count: number, from: number, textOf: (index: number) => string): void {
    const template = this.add(account, "template");
    const { $client } = this.store;
    const columns = $client
      .query<{ name: string }, []>("SELECT name FROM pragma_table_info('recordings') WHERE name <> 'id'")
      .all()
      .map(({ name }) => name)
      .join(", ");
    const copy = $client.prepare(
      `INSERT INTO recordings (id, ${columns}) SELECT ?, ${columns} FROM recordings WHERE id = ?`,
    );
    const number = $client.prepare(
      "INSERT INTO searchable_recordings (number, recording_id, is_whole) VALUES (?, ?, 1)",
    );
    const text = $client.prepare("INSERT INTO searchable_texts (rowid, text) VALUES ((? << 21), ?)");
    this.store.transaction(() => {
      for (let index = 0; index < count; index++) {
        const id = Bun.randomUUIDv7();
        copy.run(id, template);
        number.run(from + 2 * index, id);
        text.run(from + 2 * index, textOf(index));
      }
    });
    copy.finalize();
    number.finalize();
    text.finalize();
  }

  async search(q: string, limit: number, before: number | null = null, accounts: readonly string[] = ["mine"]) {
    const ids = accounts.map((name) => this.accountId(name));
    const { found, next } = await searchVisible(this.store, new SearchQuery(q), ids, {}, before, limit);
    return { found: found.map(({ recording, segments }) => [recording.id, segments] as const), next };
  }

  index(): Promise<void> {
    return indexMissing(this.store, new AbortController().signal);
  }

  [Symbol.dispose](): void {
    this.store.$client.close();
  }
}

describe("the search of a viewer who does not see all accounts", () => {
  const queries = ["globex ", "umbrella ", '"merger with globex"', '"merger with umbrella"', "glob", "umbr"];

  test("has the same pages with and without matches in other accounts", async () => {
    const pagesWith = async (secret: string) => {
      using shelf = new Shelf();
      const mine: string[] = [];
      const add = (...texts: readonly string[]) => mine.push(shelf.add("mine", ...texts));
      for (let count = 0; count < 3; count++) shelf.add("secret", secret);
      add("globex", "umbrella", "the merger with globex", "the merger with umbrella");
      shelf.add("secret", ...Array.from({ length: 500 }, () => secret));
      add("nothing of it");
      for (let count = 0; count < 300; count++) shelf.add("secret", secret);
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

  test("finds the same as a search in all accounts, of which the others are removed", async () => {
    using shelf = new Shelf();
    for (let count = 0; count < 60; count++) {
      const account = ["mine", "ours", "other"][(count * 7) % 3] ?? "";
      shelf.add(
        account,
        ...Array.from({ length: count % 9 === 0 ? 450 : 2 }, (_, row) => (row % 4 < 3 ? "harbour" : "port")),
      );
    }
    await shelf.index();
    for (const q of ["harbour ", "harb", "port "]) {
      const { found } = searchRecordings(shelf.store, new SearchQuery(q), {}, null, 100);
      const seen = [shelf.accountId("mine"), shelf.accountId("ours")];
      const expected = found.filter(({ recording }) => seen.includes(recording.accountId));
      const { found: actual, next } = await shelf.search(q, 100, null, ["mine", "ours"]);
      expect(actual).toEqual(expected.map(({ recording, segments }) => [recording.id, segments] as const));
      expect(next).toBeNull();
    }
    expect((await shelf.search("harbour ", 100, null, [])).found).toEqual([]);
  });
});

describe("next to 100,000 matches in another account", () => {
  let shelf: Shelf;
  beforeAll(() => {
    shelf = new Shelf();
    shelf.addIndexed("other", 100_000, 2_000_000, () => "harbour");
    shelf.addIndexed("large", 10_100, 2_000_001, (index) => (index === 5 ? "harbour" : "sunrise"));
    shelf.add("mine", "sunrise");
  }, 60_000);
  afterAll(() => shelf[Symbol.dispose]());

  test("a search passes over them, and yields to other requests", async () => {
    await shelf.index();
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
  }, 60_000);
});
