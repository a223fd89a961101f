import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, readAudit } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { Library, type Person, type Refusal } from "../../src/library/index.ts";
import { newRecordingId, Recordings } from "../../src/recordings/index.ts";
import { SearchQuery } from "../../src/search/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";

const now = () => 1_000_000;

/** A library with a completed recording of the account `acme`, and one that is queued. */
class Shelf implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly dataDirectory = new DataDirectory(join(this.#directory.path, "data"));
  readonly store = openDatabase(this.dataDirectory.databasePath);
  readonly recordings = new Recordings(this.store, now);
  readonly library = new Library({ ...this, usage: new Usage(this.store), now });
  readonly account = createAccount(this.store, "acme", { actor: "test", now: 0 });
  readonly completed = this.#enter();
  readonly queued = this.#enter();

  constructor() {
    this.recordings.claim(this.completed);
    this.recordings.complete(this.completed, []);
  }

  #enter(): string {
    return this.recordings.create(newRecording(newRecordingId(now()), this.account.id)).id;
  }

  person(role: Person["role"], accountIds: readonly string[] = [this.account.id]): Person {
    return { kind: "person", role, actor: "user:1", accountIds };
  }

  /** Returns the kind of the refusal of a call; null if it succeeds. */
  async refusal(call: (library: Library) => unknown): Promise<Refusal["kind"] | null> {
    try {
      await call(this.library);
      return null;
    } catch (error) {
      if (error instanceof Error && error.name === "LibraryError") return error.message as Refusal["kind"];
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.store.$client.close();
    this.#directory[Symbol.dispose]();
  }
}

describe("a person", () => {
  const calls: [string, (library: Library, viewer: Person, shelf: Shelf) => unknown, (string | null)[]][] = [
    [
      "sees a recording",
      (library, viewer, { completed }) => library.require(viewer, completed),
      [null, null, "not_found"],
    ],
    [
      "reads a transcript",
      (library, viewer, { completed }) => library.transcript(viewer, completed),
      [null, null, "not_found"],
    ],
    [
      "reads a transcript of a known record",
      (library, viewer, { recordings, completed }) => {
        const recording = recordings.get(completed);
        return recording === null ? null : library.transcriptOf(viewer, recording);
      },
      [null, null, "not_found"],
    ],
    [
      "changes a recording",
      (library, viewer, { completed }) => library.requireChangeable(viewer, completed),
      [null, "not_allowed", "not_found"],
    ],
    [
      "creates a recording",
      (library, viewer, { account }) => library.requireCreation(viewer, account.id),
      [null, "not_allowed", "not_found"],
    ],
    [
      "cancels a recording",
      (library, viewer, { queued }) => library.cancel(viewer, queued),
      ["not_allowed", "not_allowed", "not_found"],
    ],
    [
      "deletes a recording",
      (library, viewer, { completed }) => library.remove(viewer, completed),
      [null, "not_allowed", "not_found"],
    ],
  ];
  test.each(calls)(
    "%s as member, reader and member of another account with the answer %#",
    async (_what, call, expected) => {
      using shelf = new Shelf();
      const viewers = [shelf.person("reader"), shelf.person("member", ["other"]), shelf.person("member")];
      const answers: (string | null)[] = [];
      for (const viewer of viewers) answers.push(await shelf.refusal((library) => call(library, viewer, shelf)));
      const [reader, other, member] = answers;
      expect([member, reader, other]).toEqual(expected as (Refusal["kind"] | null)[]);
    },
  );

  test("without an account sees an empty library", async () => {
    using shelf = new Shelf();
    const nobody = shelf.person("member", []);
    expect(shelf.library.list(nobody, {}, 10)).toEqual([]);
    expect(shelf.library.list(nobody, { accountId: shelf.account.id }, 10)).toEqual([]);
    expect((await shelf.library.search(nobody, new SearchQuery("x"), {}, null, 10)).found).toEqual([]);
    expect(shelf.library.list(shelf.person("reader"), {}, 10)).toHaveLength(2);
    const everywhere: Person = { ...shelf.person("reader"), accountIds: "all" };
    expect(shelf.library.list(everywhere, {}, 10)).toHaveLength(2);
    expect(shelf.library.require(everywhere, shelf.completed).id).toBe(shelf.completed);
  });

  test("is the author of a deletion in the audit log", async () => {
    using shelf = new Shelf();
    await shelf.library.remove(shelf.person("member"), shelf.completed);
    expect(readAudit(shelf.store, 1)).toMatchObject([{ actor: "user:1", action: "recordings.delete" }]);
  });
});
