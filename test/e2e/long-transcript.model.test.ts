import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { prepareLastStep } from "../../harness/prepare-last-step.ts";
import { randomNumbers } from "../../harness/random-numbers.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { openDatabase } from "../../src/database/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";

const ready = available("e2e tests of a long transcript", ffmpegPath, samplePath("sample.wav"));
const hours = 1.5;
const leftText = "Left by a server that was killed.";
const withoutSpaces = (text: string) => text.replace(/\s/g, "");

/** The words are made up and all steps before the last are prepared, because real transcription would take hours. */
describe.if(ready)("the segments of a long recording", () => {
  const server = new TestServer({ ...tinyRecognizer(), TRANSCRIBE_LOG_LEVEL: "info" });
  let key = "";
  let id = "";
  let text = "";
  const client = () => new TestClient(server.baseUrl, key);
  const databasePath = () => join(server.dataDirectory, "transcribe.db");

  beforeAll(async () => {
    await server.start(false);
    const first = server.client("acme");
    key = first.key;
    ({ id } = await first.create(samplePath("sample.wav"), { language: "en" }));
    await server.killHard();
    text = await prepareLastStep(server.dataDirectory, id, hours * 3600, randomNumbers(7));
  }, 2 * startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  /**
   * Stores segments like a server that is killed while it stores them, and more than the recording really has there.
   */
  function storeLeftovers(): void {
    const store = openDatabase(databasePath());
    const recordings = new Recordings(store, Date.now);
    recordings.claim(id);
    const left = { startSeconds: 0, endSeconds: 1, speaker: 0, text: leftText, words: [] };
    recordings.rows.addSegments(
      id,
      Array.from({ length: 250 }, (_, index) => ({ ...left, index: index * 20 })),
    );
    store.$client.close();
  }

  /** Requests the recording and its segments until `isOver`. @returns the distinct responses */
  async function responsesUntil(isOver: (status: string) => boolean): Promise<string[]> {
    const responses = new Set<string>();
    await server.until(async () => {
      const pages = await client().fetch(`/transcriptions/${id}/segments?limit=1000`);
      const { status } = await client().get(id);
      // A completed recording may have completed after the request of its segments.
      if (status !== "completed") responses.add(`${status}: ${pages.status} ${JSON.parse(await pages.text()).error}`);
      return isOver(status);
    }, 1);
    return [...responses];
  }

  test(
    "are not readable before all of them are stored, also when the server is killed, and are complete then",
    server.showingLog(async () => {
      storeLeftovers();
      await server.start(false);
      using database = new Database(databasePath(), { readonly: true });
      const own = database.query<{ count: number }, [string]>("SELECT count(*) AS count FROM segments WHERE text != ?");
      const before = await responsesUntil((status) => status === "completed" || (own.get(leftText)?.count ?? 0) > 0);
      await server.killHard();
      await server.start(false);
      const after = await responsesUntil((status) => status === "completed");
      const notReady = /^(queued|processing): 409 transcription_is_not_ready$/;
      expect([...before, ...after].filter((response) => !notReady.test(response))).toEqual([]);
      expect(before.length).toBeGreaterThan(0);

      const segments = await client().segments(id);
      expect(segments.length).toBeGreaterThan(1000);
      expect(withoutSpaces(segments.map(({ text }) => text).join(""))).toBe(withoutSpaces(text));
      await server.untilCleanedUp();
    }),
    120_000,
  );

  const exported = async (format: string) => {
    const response = await client().fetch(`/transcriptions/${id}/export?format=${format}`);
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  test("are all in a txt export", async () => {
    const text = (await exported("txt")).toString().replace(/\s+/g, " ");
    expect((await client().segments(id)).filter((segment) => !text.includes(segment.text))).toEqual([]);
    expect(text).not.toContain(leftText);
  });

  test.each(["srt", "vtt"])("have at least one cue each in an export as %s", async (format) => {
    const text = (await exported(format)).toString();
    const segments = await client().segments(id);
    expect(text.match(/ --> /g)?.length).toBeGreaterThanOrEqual(segments.length);
    expect(text.trimEnd().endsWith(segments.at(-1)?.text.split(" ").at(-1) ?? "no segments")).toBe(true);
  });

  test.each([
    ["pdf", "%PDF-", "%%EOF"],
    ["docx", "PK", ""],
  ])("are in a complete file of an export as %s", async (format, start, end) => {
    const bytes = await exported(format);
    expect(bytes.subarray(0, start.length).toString()).toBe(start);
    expect(bytes.toString("latin1").trimEnd().endsWith(end)).toBe(true);
  });
});
