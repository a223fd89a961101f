import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { bodyOf, errorOf } from "../../harness/client.ts";
import { segmentPageContract } from "../../harness/contract.ts";
import { fingerprintOf } from "../../src/http/api/idempotency.ts";
import { packSegment } from "../../src/segments/index.ts";
import { someUrl } from "../support/forms.ts";
import { ApiServer } from "../support/http.ts";

// A link is stored without being fetched, so no recording is needed.
const server = new ApiServer({ recordingsPerAccount: 1000 });
afterAll(() => server[Symbol.dispose]());
afterEach(() => {
  server.translationRefusal = null;
});
const client = server.client("first");

function send(parts: Record<string, string>): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ url: someUrl, ...parts })) body.append(name, value);
  return client.fetch("/transcriptions", { method: "POST", body });
}

/** Enters a recording with 250 segments, and a translation of as many. @returns its id */
function enterTranslated(accountId = client.accountId): string {
  const id = server.enterProcessing(accountId, { isTranslated: true });
  const segments = (text: string) =>
    Array.from({ length: 250 }, (_, index) => {
      const word = { text: ` ${text} ${index}.`, startSeconds: index, endSeconds: index + 0.9, probability: 0.9 };
      const times = { startSeconds: index, endSeconds: index + 0.9 };
      return { index, ...times, speaker: index % 2, text: word.text.trim(), words: [word] };
    });
  server.recordings.rows.addTranslation(id, segments("Sentence").map(packSegment));
  server.recordings.complete(id, segments("Satz"));
  return id;
}

describe("the task of a create", () => {
  test.each([
    ["translate", true],
    ["transcribe", false],
    ["", false],
    [undefined, false],
  ])("%p: is accepted and stored, and no answer shows it", async (task, isTranslated) => {
    const response = await send(task === undefined ? {} : { task });
    expect(response.status).toBe(201);
    const text = await response.text();
    expect(text).not.toContain("translat");
    expect(server.recordings.get(JSON.parse(text).id)?.isTranslated).toBe(isTranslated);
  });

  test("is refused under its name if it is no task, or the model does not translate", async () => {
    const before = server.queued.length;
    const wrong = await errorOf(await send({ task: "summarize" }), 422);
    expect(wrong).toMatchObject({ error: "validation_failed", errors: { task: [expect.any(String)] } });
    server.translationRefusal = "The model large-v3-turbo does not translate. These installed models do: whisper-base.";
    const unable = await errorOf(await send({ task: "translate" }), 422);
    expect(unable).toMatchObject({ errors: { task: [server.translationRefusal] } });
    expect((await send({ task: "transcribe" })).status).toBe(201);
    expect(server.queued.length).toBe(before + 1);
  });

  test("distinguishes creates with one Idempotency-Key, and without it the fingerprint is that of earlier versions", () => {
    const fingerprint = (fields: Record<string, string>) => fingerprintOf({ file: null, fields });
    expect(fingerprint({ url: someUrl, task: "translate" })).not.toBe(fingerprint({ url: someUrl }));
  });
});

describe("GET /transcriptions/ID/translation", () => {
  test("returns pages that join to the whole translation, with speakers and on request with words", async () => {
    const id = enterTranslated();
    const texts: string[] = [];
    let cursor = "";
    do {
      const query = `?limit=101&words=true${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const answer = await client.fetch(`/transcriptions/${id}/translation${query}`);
      const page = await bodyOf(answer, 200, segmentPageContract);
      texts.push(...page.data.map(({ text, speaker, words }) => `${speaker} ${text} ${words?.length}`));
      cursor = page.next_cursor;
      expect(page.has_more).toBe(cursor !== "");
    } while (cursor !== "");
    expect(texts).toEqual(Array.from({ length: 250 }, (_, index) => `${index % 2 ? "B" : "A"} Sentence ${index}. 1`));
    const plain = await bodyOf(
      await client.fetch(`/transcriptions/${id}/translation?limit=1`),
      200,
      segmentPageContract,
    );
    expect(plain.data[0]).not.toHaveProperty("words");
    const transcript = await client.fetch(`/transcriptions/${id}/segments?limit=1`);
    expect((await bodyOf(transcript, 200, segmentPageContract)).data[0]?.text).toBe("Satz 0.");
  });

  test("is 404 without a translation, 409 before it is there, and 404 for another account", async () => {
    const path = (id: string) => `/transcriptions/${id}/translation`;
    const plain = server.enterCompleted(client.accountId, 1);
    expect((await errorOf(await client.fetch(path(plain)), 404)).error).toBe("translation_not_found");
    const open = server.enterProcessing(client.accountId, { isTranslated: true });
    expect((await errorOf(await client.fetch(path(open)), 409)).error).toBe("transcription_is_not_ready");
    const other = enterTranslated(server.account("second").id);
    expect((await errorOf(await client.fetch(path(other)), 404)).error).toBe("not_found");
    const pinned = server.client("first", { workspace: server.workspace("first", "sales") });
    const refused = await errorOf(await pinned.fetch(path(enterTranslated())), 403);
    expect(refused.error).toBe("workspace_scope_mismatch");
  });
});

describe("exports of a translation", () => {
  test.each([
    ["srt", "Sentence 0."],
    ["txt", "Sentence 249."],
    ["json", '"language":"en"'],
  ])("text=translation gives %s in English, with an ETag of its own", async (format, contains) => {
    const id = enterTranslated();
    const path = `/transcriptions/${id}/exports/${format}`;
    const translation = await client.fetch(`${path}?text=translation`);
    const transcript = await client.fetch(`${path}?text=transcript`);
    expect([translation.status, transcript.status]).toEqual([200, 200]);
    const text = await translation.text();
    expect(text.replaceAll(/": "/g, '":"')).toContain(contains);
    expect(text).not.toContain("Satz");
    expect(await transcript.text()).toContain("Satz");
    expect(translation.headers.get("etag")).not.toBe(transcript.headers.get("etag"));
    const again = await client.fetch(`${path}?text=translation`, {
      headers: { "if-none-match": translation.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });

  test("an unknown text is refused, and a recording without a translation has no file of it", async () => {
    const path = `/transcriptions/${server.enterCompleted(client.accountId, 1)}/exports/srt`;
    expect(await errorOf(await client.fetch(`${path}?text=summary`), 422)).toMatchObject({
      errors: { text: ["It must be transcript or translation."] },
    });
    expect((await errorOf(await client.fetch(`${path}?text=translation`), 404)).error).toBe("translation_not_found");
  });
});
