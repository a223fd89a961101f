import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { bodyOf } from "../../../harness/client.ts";
import {
  changesSchema,
  comparisonSchema,
  correctedSchema,
  recordingPageSchema,
  recordingSchema,
  replacementPageSchema,
  revisionPageSchema,
  segmentPageSchema,
} from "../../../src/console/contract/index.ts";
import { exportFormats } from "../../../src/exports/index.ts";
import { changeUser } from "../../../src/users/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { newUser, PASSWORD, signedIn } from "./people.ts";

setDefaultTimeout(60_000);

const texts = ["We met in June.", "Yes, we did.", "And then he left."];

/** A page that sends corrections, with the revision that it has seen. */
class Page {
  seen = 0;
  sequence = 0;

  constructor(
    readonly browser: Browser,
    readonly path: string,
    readonly editor = "page-one",
  ) {}

  send(correction: Record<string, unknown>): Promise<Response> {
    this.sequence += 1;
    const { editor, sequence, seen } = this;
    return this.browser.send("POST", `${this.path}/corrections`, { editor, sequence, seen, shown: seen, correction });
  }

  async correct(correction: Record<string, unknown>) {
    const corrected = await bodyOf(await this.send(correction), 200, correctedSchema);
    this.seen = corrected.revision;
    return corrected;
  }

  changes() {
    return this.browser.read(`${this.path}/changes?seen=${this.seen}&editor=${this.editor}`, changesSchema);
  }
}

async function opened(server: ConsoleServer) {
  const id = await server.enterSaid("first", texts);
  const browser = await server.operator();
  return { id, browser, page: new Page(browser, `/recordings/${id}`) };
}

describe("an uncertain speaker", () => {
  const mark = (server: ConsoleServer, value: 0 | 1) => {
    server.api.store.$client.run('UPDATE segments SET is_speaker_uncertain = ? WHERE "index" > 0', [value]);
  };

  test("is shown in the console until a person confirms it, and again after an undo", async () => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    mark(server, 1);
    const shown = async () => {
      const { segments } = await browser.read(`${page.path}/segments`, segmentPageSchema);
      return segments.map((segment) => segment.is_speaker_uncertain);
    };
    expect(await shown()).toEqual([false, true, true]);
    const { splices, number } = await page.correct({ action: "assign", segments: [1], speaker: 1 });
    expect(splices).toMatchObject([{ index: 1, segments: [{ id: 1, speaker: "B", is_speaker_uncertain: false }] }]);
    expect(await shown()).toEqual([false, false, true]);
    await page.correct({ action: "revert", revision: number });
    expect(await shown()).toEqual([false, true, true]);
  });

  test("changes no answer of the API and no byte of an export", async () => {
    using server = new ConsoleServer();
    const { id } = await opened(server);
    const client = server.api.client("first");
    const answers = async () => {
      const paths = ["segments", "segments?words=true", ...exportFormats.map((format) => `export?format=${format}`)];
      return await Promise.all(
        paths.map(async (path) => (await client.fetch(`/transcriptions/${id}/${path}`)).bytes()),
      );
    };
    const before = await answers();
    mark(server, 1);
    expect(await answers()).toEqual(before);
  });
});

describe("a corrected transcript", () => {
  test("is what the API, the exports and the search give", async () => {
    using server = new ConsoleServer();
    const { id, browser, page } = await opened(server);
    const client = server.api.client("first");
    const before = await client.get(id);
    const exported = () => client.fetch(`/transcriptions/${id}/export?format=txt`);
    const tag = (await exported()).headers.get("etag");
    await page.correct({ action: "text", segment: 0, text: "We met in July." });
    await page.correct({ action: "assign", segments: [0], speaker: 1 });
    await page.correct({ action: "merge", segment: 1, next: 2 });
    const segments = await client.segments(id);
    expect(segments.map(({ index, speaker, text }) => [index, speaker, text])).toEqual([
      [0, "A", "We met in July."],
      [1, "A", "Yes, we did. And then he left."],
    ]);
    const { data } = (await (await client.fetch(`/transcriptions/${id}/segments?words=true`)).json()) as {
      data: { words: unknown[] }[];
    };
    expect(data[0]?.words.at(-1)).toEqual({ text: "July.", start: 0.675, end: 0.9, probability: 1 });
    const after = await client.get(id);
    expect(after.updated_at > before.updated_at).toBe(true);
    expect(after).toEqual({ ...before, updated_at: after.updated_at });
    expect((await exported()).headers.get("etag")).not.toBe(tag);
    expect(await (await exported()).text()).toContain("We met in July.");
    for (const format of ["srt", "vtt", "json", "csv", "rttm", "textgrid", "eaf", "lrc", "docx", "pdf"]) {
      const answer = await browser.data(`/recordings/${id}/exports/${format}`);
      expect([format, answer.status, (await answer.bytes()).length > 50]).toEqual([format, 200, true]);
    }
    const hits = async (word: string) => {
      const { recordings } = await browser.read(`/recordings?q=${word}`, recordingPageSchema);
      return recordings.flatMap((recording) => ("hits" in recording ? recording.hits : []));
    };
    expect(await hits("june")).toEqual([]);
    expect(await hits("left")).toMatchObject([{ segment: 1, text: "Yes, we did. And then he left." }]);
  });

  test("may be empty", async () => {
    using server = new ConsoleServer();
    const { id, page } = await opened(server);
    for (const segment of [0, 1, 2]) await page.correct({ action: "text", segment, text: "" });
    const client = server.api.client("first");
    expect(await client.segments(id)).toEqual([]);
    for (const format of ["txt", "srt", "vtt", "json", "textgrid", "eaf", "docx", "pdf"]) {
      const answer = await client.fetch(`/transcriptions/${id}/export?format=${format}`);
      expect([format, answer.status]).toEqual([format, 200]);
      await answer.bytes();
    }
    await page.correct({ action: "restore", revision: 0 });
    expect(await client.segments(id)).toHaveLength(3);
  });

  test("tells a page what it needs to know", async () => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    const recording = () => browser.read(page.path, recordingSchema);
    expect((await recording()).corrected).toBeNull();
    const corrected = await page.correct({ action: "split", segment: 0, character: 7 });
    expect(corrected).toMatchObject({ revision: 1, number: 1, replaces: null, next: null, authors: [] });
    expect(corrected.splices).toMatchObject([
      { index: 0, removed: 1, segments: [{ id: 0, index: 0, speaker: "A", text: "We met" }] },
      { index: 1, removed: 0, segments: [{ id: 3, index: 1, speaker: "A", text: "in June.", start: 0.45 }] },
    ]);
    const { corrected: latest, speakers } = await recording();
    expect(latest).toMatchObject({ revision: 1, author: expect.stringContaining("(console)") });
    expect(speakers.map(({ number, speaker, segments }) => [number, speaker, segments])).toEqual([
      [0, "A", 3],
      [1, "B", 1],
    ]);
    const { segments, revision } = await browser.read(`${page.path}/segments`, segmentPageSchema);
    expect([revision, segments.map(({ id }) => id)]).toEqual([1, [0, 3, 1, 2]]);
  });

  test("is shown with the speakers of one revision, also while it is corrected", async () => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    for (let round = 0; round < 20; round++) {
      const isNew = round % 2 === 1;
      const reads = Array.from({ length: 4 }, () => browser.read(page.path, recordingSchema));
      const { revision } = await page.correct({ action: "assign", segments: [1], speaker: isNew ? null : 0 });
      for (const shown of await Promise.all(reads)) {
        if (shown.corrected?.revision !== revision) continue;
        const speakers = shown.speakers.map(({ speaker, segments }) => `${speaker} ${segments}`);
        expect(speakers).toEqual(isNew ? ["A 2", "B 1"] : ["A 3"]);
      }
    }
  });

  test("keeps the names of its speakers", async () => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    await browser.send("PUT", `${page.path}/speakers`, { names: { 0: "Ada", 1: "Ben" } });
    await page.correct({ action: "assign", segments: [0], speaker: 1 });
    const named = async () =>
      (await browser.read(page.path, recordingSchema)).speakers.map(({ speaker, name }) => `${speaker} ${name}`);
    expect(await named()).toEqual(["A Ben", "B Ada"]);
    await browser.send("PUT", `${page.path}/speakers`, { names: { 1: "Bob" } });
    await page.correct({ action: "revert", revision: 1 });
    expect(await named()).toEqual(["A Ada", "B Bob"]);
  });

  test("is exported with the right names, also while it is corrected", async () => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    await browser.send("PUT", `${page.path}/speakers`, { names: { 0: "Ada", 1: "Ben" } });
    for (let round = 0; round < 10; round++) {
      const exports = Array.from({ length: 6 }, () => browser.data(`${page.path}/exports/vtt`));
      // The first speaker is another one after each correction.
      await page.correct({ action: "assign", segments: [0], speaker: round % 2 === 0 ? 1 : 0 });
      for (const answer of await Promise.all(exports)) {
        const text = await answer.text();
        expect(text).toContain("<v Ben>Yes, we did.");
        expect(text).toContain("<v Ada>And then he left.");
      }
    }
  });
});

describe("two pages", () => {
  test("see each other's changes, and neither overwrites the other's", async () => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    const other = new Page(browser, page.path, "page-two");
    await page.correct({ action: "text", segment: 0, text: "We met in July." });
    const refused = await other.send({ action: "text", segment: 0, text: "We met in May." });
    expect(await browser.refusal(refused, 409)).toBe("changed_meanwhile");
    const changes = await other.changes();
    expect(changes).toMatchObject({ revision: 1, splices: [{ segments: [{ text: "We met in July." }] }] });
    expect(changes.authors).toHaveLength(1);
    const corrected = await other.correct({ action: "text", segment: 1, text: "No." });
    expect(corrected.splices).toHaveLength(2);
    expect((await page.changes()).splices).toMatchObject([{ index: 1, segments: [{ text: "No." }] }]);
  });
});

test("two people whose pages have the same id keep both corrections, as two revisions", async () => {
  using server = new ConsoleServer();
  const { id, page } = await opened(server);
  const [anna, ben] = await Promise.all(
    ["anna@example.org", "ben@example.org"].map(async (email) => {
      const browser = await signedIn(server, email, "member", ["first"]);
      return new Page(browser, page.path);
    }),
  );
  if (anna === undefined || ben === undefined) throw new Error("nobody has signed in");
  await anna.correct({ action: "text", segment: 0, text: "We met in July." });
  expect((await ben.changes()).authors).toEqual(["Name of anna"]);
  const refused = await ben.send({ action: "text", segment: 0, text: "We met in May." });
  expect(await ben.browser.refusal(refused, 409)).toBe("changed_meanwhile");
  ben.seen = 1;
  ben.sequence = 0;
  // The same request number and the same segment as anna's.
  const corrected = await ben.correct({ action: "text", segment: 0, text: "We met in May." });
  expect(corrected).toMatchObject({ number: 2, replaces: null, revision: 2 });
  const { segments } = await ben.browser.read(`${page.path}/segments`, segmentPageSchema);
  expect(segments[0]?.text).toBe("We met in May.");
  const { revisions } = await anna.browser.read(`/recordings/${id}/revisions`, revisionPageSchema);
  expect(revisions.map(({ number, author }) => [number, author])).toEqual([
    [2, "Name of ben"],
    [1, "Name of anna"],
  ]);
});

test("the revisions of a transcript are listed, compared and restored", async () => {
  using server = new ConsoleServer();
  const { browser, page } = await opened(server);
  await page.correct({ action: "text", segment: 2, text: "And then she left." });
  await page.correct({ action: "text", segment: 0, text: "We met." });
  const { revisions, next_before } = await browser.read(`${page.path}/revisions`, revisionPageSchema);
  expect(revisions.map(({ number, action, segments }) => [number, action, segments])).toEqual([
    [2, "text", 1],
    [1, "text", 1],
  ]);
  expect(next_before).toBeNull();
  const compared = await browser.read(`${page.path}/comparison?revision=1`, comparisonSchema);
  expect(compared).toEqual({
    differences: [
      {
        index: 0,
        before: [{ start: 0, speaker: "A", text: "We met in June." }],
        after: [{ start: 0, speaker: "A", text: "We met." }],
      },
    ],
    ...{ total: 1, next_after: null },
  });
  await page.correct({ action: "restore", revision: 0 });
  expect((await browser.read(`${page.path}/comparison?revision=0`, comparisonSchema)).total).toBe(0);
  expect(await browser.refusal(browser.data(`${page.path}/comparison?revision=77`), 422)).toBe("validation_failed");
});

test("a replacement shows what it changes before it is made", async () => {
  using server = new ConsoleServer();
  const { browser, page } = await opened(server);
  const query = "find=WE&replacement=they&whole_words=true";
  const found = await browser.read(`${page.path}/replacements?${query}`, replacementPageSchema);
  expect(found.replacements.map(({ id, before, marks, after }) => [id, before, marks, after])).toEqual([
    [0, "We met in June.", [[0, 2]], "they met in June."],
    [1, "Yes, we did.", [[5, 7]], "Yes, they did."],
  ]);
  const replacement = { find: "WE", replacement: "they", matches_case: false, whole_words: true };
  await page.correct({ action: "replace", ...replacement, after: null, except: [0] });
  const { segments } = await browser.read(`${page.path}/segments`, segmentPageSchema);
  expect(segments.map(({ text }) => text)).toEqual(["We met in June.", "Yes, they did.", "And then he left."]);
});

describe("a correction", () => {
  const request = { editor: "page-one", sequence: 1, seen: 0, shown: 0 };
  test.each<[string, unknown, number]>([
    ["of another kind", { ...request, correction: { action: "run" } }, 422],
    ["without a correction", request, 422],
    ["by no page", { ...request, editor: "x", correction: { action: "text", segment: 0, text: "a" } }, 422],
    ["of a segment below zero", { ...request, correction: { action: "text", segment: -1, text: "a" } }, 422],
    ["of a segment that there is not", { ...request, correction: { action: "text", segment: 9, text: "a" } }, 409],
    ["with a text of pages", { ...request, correction: { action: "text", segment: 0, text: "a".repeat(20_001) } }, 422],
    ["of too many bytes", { ...request, correction: { action: "text", segment: 0, text: "ä".repeat(200_000) } }, 413],
    [
      "by a speaker that there is not",
      { ...request, correction: { action: "assign", segments: [0], speaker: 7 } },
      422,
    ],
    ["of no segment", { ...request, correction: { action: "assign", segments: [], speaker: 0 } }, 422],
    ["that splits before the text", { ...request, correction: { action: "split", segment: 0, character: 0 } }, 422],
    ["that finds nothing", { ...request, correction: { action: "replace", find: "", replacement: "a" } }, 422],
  ])("%s is refused without a change", async (_name, body, status) => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    const answer = await browser.send("POST", `${page.path}/corrections`, body);
    await browser.refusal(answer, status);
    expect(await page.changes()).toEqual({ revision: 0, splices: [], authors: [] });
  });

  test("needs a session, and a completed recording", async () => {
    using server = new ConsoleServer();
    const { browser, page } = await opened(server);
    const correction = { action: "text", segment: 0, text: "a" };
    const stranger = new Page(server.stranger(), page.path);
    expect(await browser.refusal(await stranger.send(correction), 401)).toBe("not_signed_in");
    const open = server.api.enterProcessing(server.api.account("first").id);
    expect(await browser.refusal(await new Page(browser, `/recordings/${open}`).send(correction), 409)).toBe(
      "not_ready",
    );
    const missing = new Page(browser, `/recordings/${Bun.randomUUIDv7()}`);
    expect(await browser.refusal(await missing.send(correction), 404)).toBe("not_found");
  });
});

test("the e-mail address of an author is for operators only", async () => {
  using server = new ConsoleServer();
  const { id, page } = await opened(server);
  const [anna, rita] = ["anna@example.org", "rita@example.org"];
  const author = await signedIn(server, anna, "member", ["first"]);
  await new Page(author, page.path, "page-two").correct({ action: "text", segment: 0, text: "We met in July." });
  // The name of this author is an address.
  const nameless = await newUser(server, "omar@example.org", "member", ["first"]);
  changeUser(server.api.store, nameless, { name: "omar@example.org" }, server.api.operator());
  const omar = server.stranger();
  await omar.enter({ email: "omar@example.org", password: PASSWORD });
  const second = new Page(omar, page.path, "page-three");
  second.seen = 1;
  await second.correct({ action: "text", segment: 1, text: "No, we did not." });
  const authorsFor = async (browser: Browser) => {
    const { revisions } = await browser.read(`/recordings/${id}/revisions`, revisionPageSchema);
    const { corrected } = await browser.read(`/recordings/${id}`, recordingSchema);
    const { authors } = await new Page(browser, page.path, "page-four").changes();
    return { revisions: revisions.map((revision) => revision.author), corrected: corrected?.author, authors };
  };
  const forOperator = await authorsFor(await server.operator());
  expect(forOperator.revisions).toEqual(["omar@example.org", `Name of ${anna} (${anna})`]);
  for (const role of ["reader", "member"] as const) {
    const seen = await authorsFor(await signedIn(server, `${role}-${rita}`, role, ["first"]));
    expect(seen.revisions).toEqual(["omar", "Name of anna"]);
    expect(seen.corrected).toBe("omar");
    expect(seen.authors.toSorted()).toEqual(["Name of anna", "omar"]);
  }
});
