import { afterAll, describe, expect, test } from "bun:test";
import { bodyOf, errorOf } from "../../harness/client.ts";
import { segmentPageContract } from "../../harness/contract.ts";
import { ApiServer } from "../support/http.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
const client = server.client("first");
const completed = server.enterCompleted(client.accountId, 250);

const page = async (query: string) =>
  bodyOf(await client.fetch(`/transcriptions/${completed}/segments${query}`), 200, segmentPageContract);

describe("pages of segments", () => {
  test("have 100 segments by default", async () => {
    const { data, has_more, next_cursor } = await page("");
    expect(data.map((segment) => segment.index)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(has_more).toBe(true);
    expect(next_cursor).not.toBe("");
  });

  for (const limit of [1, 7, 125, 249, 250, 251, 1000]) {
    test(`pages of ${limit} join to the whole, nothing twice and nothing left out`, async () => {
      const segments = await client.segments(completed, limit);
      expect(segments.map((segment) => segment.text)).toEqual(
        Array.from({ length: 250 }, (_, index) => `Segment ${index}.`),
      );
    });
  }

  test("end with an empty cursor", async () => {
    expect(await page("?limit=250")).toMatchObject({ has_more: false, next_cursor: "" });
    const { next_cursor } = await page("?limit=249");
    expect(await page(`?limit=249&cursor=${next_cursor}`)).toMatchObject({ has_more: false, next_cursor: "" });
  });

  const invalid: [string, string][] = [
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=-1", "limit"],
    ["limit=abc", "limit"],
    ["limit=1.5", "limit"],
    ["limit=", "limit"],
    ["limit=1e2", "limit"],
    ["limit=0x10", "limit"],
    ["limit=99999999999999999999", "limit"],
    ["limit=%2010", "limit"],
    ["limit=1&limit=2", "limit"],
    ["cursor=junk", "cursor"],
    ["cursor=", "cursor"],
    ["cursor=MTA", "cursor"],
    ["cursor=%F0%9F%98%80", "cursor"],
    ["cursor=a&cursor=b", "cursor"],
    ["words=1", "words"],
    ["words=", "words"],
    ["words=TRUE", "words"],
    ["words=true&words=true", "words"],
  ];
  for (const [query, field] of invalid) {
    test(`?${query} is refused under ${field}, never clamped`, async () => {
      const response = await client.fetch(`/transcriptions/${completed}/segments?${query}`);
      const { error, errors } = await errorOf(response, 422);
      expect(error).toBe("validation_failed");
      expect(Object.keys(errors ?? {})).toEqual([field]);
    });
  }

  test("report two faults at once, each under its name", async () => {
    const response = await client.fetch(`/transcriptions/${completed}/segments?limit=0&cursor=a&cursor=b`);
    expect(Object.keys((await errorOf(response, 422)).errors ?? {}).sort()).toEqual(["cursor", "limit"]);
  });

  test("have words with their times only if they are asked for", async () => {
    const [segment] = (await page("?words=true&limit=1")).data;
    expect(segment?.words).toEqual([{ text: "Segment 0.", start: 0, end: 0.9, probability: 0.9 }]);
    for (const query of ["?limit=1", "?limit=1&words=false"]) {
      expect(Object.keys((await page(query)).data[0] ?? {})).toEqual(["index", "start", "end", "speaker", "text"]);
    }
  });

  test("with words join to the same whole as those without", async () => {
    const read = async (query: string) => {
      const data: unknown[] = [];
      for (let cursor = "", isLast = false; !isLast; ) {
        const found = await page(`?limit=99${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
        data.push(...found.data.map(({ words, ...segment }) => ({ ...segment, words: words?.length ?? 1 })));
        [cursor, isLast] = [found.next_cursor, !found.has_more];
      }
      return data;
    };
    expect(await read("&words=true")).toEqual(await read(""));
  });

  test("an unknown parameter is ignored", async () => {
    expect((await page("?limit=1&colour=blue")).data).toHaveLength(1);
  });
});

describe("the transcript of a recording that has not completed", () => {
  test("is answered 409 transcription_is_not_ready while the recording is queued or processing", async () => {
    const processing = server.enterProcessing(client.accountId);
    const response = await client.fetch(`/transcriptions/${processing}/segments`);
    expect((await errorOf(response, 409)).error).toBe("transcription_is_not_ready");
  });

  test("is answered 409 although some segments are stored", async () => {
    const processing = server.enterProcessing(client.accountId);
    const text = "said before it was completed";
    server.recordings.rows.addSegments(processing, [
      { index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text, words: [] },
    ]);
    for (const path of ["segments", "export?format=txt", "export?format=docx"]) {
      const refusal = await (await client.fetch(`/transcriptions/${processing}/${path}`)).text();
      expect(JSON.parse(refusal)).toMatchObject({ error: "transcription_is_not_ready" });
      expect(refusal).not.toContain(text);
    }
    expect(await (await client.fetch(`/transcriptions/${processing}`)).text()).not.toContain(text);
  });

  test("is answered 409 transcription_is_not_ready if the recording failed, and the record contains the reason", async () => {
    const failed = server.enterProcessing(client.accountId);
    server.recordings.fail(failed, { reason: "internal", cause: "disk_full" });
    const response = await client.fetch(`/transcriptions/${failed}/segments`);
    expect((await errorOf(response, 409)).error).toBe("transcription_is_not_ready");
    const record = await (await client.fetch(`/transcriptions/${failed}`)).text();
    expect(JSON.parse(record)).toMatchObject({ status: "failed", failure_reason: "internal" });
    expect(record).not.toContain("disk_full");
  });
});
