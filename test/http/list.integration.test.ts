import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { bodyOf, errorOf } from "../../harness/client.ts";
import { type ListPage, listContract, transcriptionContract } from "../../harness/contract.ts";
import { post, someUrl } from "../support/forms.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";

const start = Date.parse("2026-11-21T08:00:00.500Z");

async function pageOf(client: KeyClient, query = ""): Promise<ListPage> {
  return bodyOf(await client.fetch(`/transcriptions${query}`), 200, listContract);
}

/** Returns the ids of all pages in order. @param between called after each page */
async function walk(client: KeyClient, query: string, between: () => void = () => {}): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await pageOf(client, `?${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    ids.push(...page.data.map(({ id }) => id));
    expect(page.has_more).toBe(page.next_cursor !== "");
    if (!page.has_more) return ids;
    cursor = page.next_cursor;
    between();
  }
}

describe("pages of recordings", () => {
  let server: ApiServer;
  let client: KeyClient;
  let ids: string[];
  beforeEach(() => {
    server = new ApiServer();
    client = server.client("first");
    ids = Array.from({ length: 25 }, () => server.enterQueued(client.accountId)).reverse();
  });
  afterEach(() => server[Symbol.dispose]());

  test("have 20 recordings by default, newest first", async () => {
    const page = await pageOf(client);
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 20));
    expect([page.has_more, page.next_cursor === ""]).toEqual([true, false]);
  });

  test.each([1, 7, 24, 25, 26, 100])("of %d join to the whole list without duplicates or gaps", async (limit) => {
    expect(await walk(client, `limit=${limit}`)).toEqual(ids);
  });

  test("stay the same while recordings arrive, end and are deleted", async () => {
    const gone = ids[22] ?? "";
    server.recordings.fail(gone, { reason: "no_speech" });
    let turn = 0;
    const seen = await walk(client, "limit=10", () => {
      server.enterQueued(client.accountId);
      server.enterCompleted(client.accountId, 1);
      server.recordings.claim(ids[turn] ?? "");
      if (turn++ === 1) server.recordings.delete(gone);
    });
    expect(seen).toEqual(ids.filter((id) => id !== gone));
  });

  test("continue after a recording that was deleted meanwhile", async () => {
    const page = await pageOf(client, "?limit=10");
    const last = ids[9] ?? "";
    server.recordings.fail(last, { reason: "no_speech" });
    server.recordings.delete(last);
    const next = await pageOf(client, `?limit=10&cursor=${page.next_cursor}`);
    expect(next.data.map(({ id }) => id)).toEqual(ids.slice(10, 20));
  });

  test("are empty for an account without recordings", async () => {
    expect(await pageOf(server.client("second"))).toEqual({ data: [], has_more: false, next_cursor: "" });
  });

  test("have cursors that reveal nothing about another account's recordings", async () => {
    const { next_cursor } = await pageOf(client, "?limit=10");
    const stranger = server.client("second");
    const own = server.enterQueued(stranger.accountId);
    expect((await pageOf(stranger, `?cursor=${next_cursor}`)).data).toEqual([]);
    expect((await pageOf(stranger)).data.map(({ id }) => id)).toEqual([own]);
  });

  test("an unknown parameter is ignored", async () => {
    expect((await pageOf(client, "?limit=1&colour=blue")).data).toHaveLength(1);
  });
});

describe("an invalid query of the list", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());
  const client = server.client("first");
  server.enterQueued(client.accountId);
  const bad: [string, string][] = [
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=ten", "limit"],
    ["limit=", "limit"],
    ["limit=1&limit=2", "limit"],
    ["cursor=junk", "cursor"],
    ["cursor=", "cursor"],
    ["cursor=cg", "cursor"],
    [`cursor=${Buffer.from("i10").toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from("r10").toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from("r' OR 1=1 --").toString("base64url")}`, "cursor"],
    [`cursor=${Buffer.from(`r${Bun.randomUUIDv7()}`).toString("base64url")}=`, "cursor"],
    [`cursor=${Buffer.from(`r${Bun.randomUUIDv7()}x`).toString("base64url")}`, "cursor"],
    ["cursor=%F0%9F%98%80", "cursor"],
    ["status=done", "status"],
    ["status=", "status"],
    ["status=queued,", "status"],
    ["status=Queued", "status"],
    ["status=queued,%20failed", "status"],
    ["status=queued&status=failed", "status"],
    ["created_after=yesterday", "created_after"],
    ["created_after=", "created_after"],
    ["created_after=1700000000", "created_after"],
    ["created_after=2026-02-30", "created_after"],
    ["created_after=2026-13-01T00:00:00Z", "created_after"],
    ["created_after=2026-11-21T25:00:00Z", "created_after"],
    ["created_after=2026-11-21T08:00:00%2B99:00", "created_after"],
    ["created_before=21.11.2026", "created_before"],
    ["created_before=2026-11-21%2008:00:00", "created_before"],
    ["created_before=Sat,%2021%20Nov%202026%2008:00:00%20GMT", "created_before"],
  ];
  for (const [query, field] of bad) {
    test(`?${query} is refused under ${field}, never clamped`, async () => {
      const { error, errors } = await errorOf(await client.fetch(`/transcriptions?${query}`), 422);
      expect([error, Object.keys(errors ?? {})]).toEqual(["validation_failed", [field]]);
    });
  }
});

describe("filters of the list", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());
  const client = server.client("first");
  const entered: Record<string, string> = {};
  const at = (seconds: number, enter: () => string) => {
    server.now = () => start + seconds * 1000;
    return enter();
  };
  entered.failed = at(0, () => server.enterFailed(client.accountId));
  entered.completed = at(1, () => server.enterCompleted(client.accountId, 1));
  entered.processing = at(2, () => server.enterProcessing(client.accountId));
  entered.queued = at(3, () => server.enterQueued(client.accountId));

  const time = (seconds: number) => encodeURIComponent(new Date(start + seconds * 1000).toISOString());
  const cases: [string, string[]][] = [
    ["", ["queued", "processing", "completed", "failed"]],
    ["status=queued", ["queued"]],
    ["status=processing", ["processing"]],
    ["status=completed", ["completed"]],
    ["status=failed", ["failed"]],
    ["status=failed,queued", ["queued", "failed"]],
    ["status=queued,queued", ["queued"]],
    ["status=queued,processing,completed,failed", ["queued", "processing", "completed", "failed"]],
    [`created_after=${time(1)}`, ["queued", "processing"]],
    [`created_before=${time(1)}`, ["failed"]],
    [`created_after=${time(0)}&created_before=${time(3)}`, ["processing", "completed"]],
    [`created_after=${time(3)}&created_before=${time(0)}`, []],
    [`created_after=${time(0)}&status=completed,queued`, ["queued", "completed"]],
    ["created_after=2026-11-21", ["queued", "processing", "completed", "failed"]],
    ["created_after=2026-11-22", []],
    ["created_after=0001-01-01", ["queued", "processing", "completed", "failed"]],
    ["created_before=0001-01-01", []],
    ["created_after=9999-12-31", []],
    ["created_before=9999-12-31", ["queued", "processing", "completed", "failed"]],
    ["created_after=2026-11-21T08:00", ["queued", "processing", "completed", "failed"]],
    ["created_after=2026-11-21T08:00:02", ["queued", "processing"]],
    ["created_after=2026-11-21T08:00:02Z", ["queued", "processing"]],
    ["created_after=2026-11-21T10:00:02%2B02:00", ["queued", "processing"]],
    ["created_before=2026-11-21T03:00:02-05:00", ["completed", "failed"]],
    ["created_after=2026-11-21T08:00:02.500Z", ["queued"]],
    ["created_after=2026-11-21T08:00:02.499999Z", ["queued", "processing"]],
  ];
  for (const [query, expected] of cases) {
    test(`?${query} gives ${expected.join(", ") || "none"}`, async () => {
      const ids = (await pageOf(client, `?${query}`)).data.map(({ id }) => id);
      expect(ids).toEqual(expected.map((name) => entered[name] ?? ""));
      expect(await walk(client, `${query}&limit=1`)).toEqual(ids);
    });
  }

  test("created_at is accepted as a filter exactly as it was given", async () => {
    const { created_at } = await bodyOf(
      await client.fetch(`/transcriptions/${entered.processing}`),
      200,
      transcriptionContract,
    );
    const query = `created_after=${encodeURIComponent(created_at)}`;
    expect((await pageOf(client, `?${query}`)).data.map(({ id }) => id)).toEqual([entered.queued ?? ""]);
  });

  test("an item is the record with only the step of its progress", async () => {
    server.recordings.progress(entered.processing ?? "", "transcribe", 40);
    for (const { progress, ...item } of (await pageOf(client)).data) {
      const record = await bodyOf(await client.fetch(`/transcriptions/${item.id}`), 200, transcriptionContract);
      expect({ ...item, progress }).toEqual({ ...record, progress: { step: record.progress.step } });
    }
  });

  test("the progress of a record is empty at first, then measured, then complete", async () => {
    const progressOf = async (name: string) => (await client.get(entered[name] ?? "")).progress;
    expect(await progressOf("queued")).toEqual({ step: null, percent: null, indeterminate: false });
    expect(await progressOf("processing")).toEqual({ step: "transcribe", percent: 40, indeterminate: false });
    expect(await progressOf("completed")).toEqual({ step: null, percent: 100, indeterminate: false });
    expect(await progressOf("failed")).toEqual({ step: null, percent: null, indeterminate: false });
    const fetching = server.enterQueued(client.accountId, { sourceUrl: someUrl, sizeBytes: null, sourceName: null });
    server.recordings.progress(fetching, "fetch", null);
    const record = await client.get(fetching);
    expect(record.progress).toEqual({ step: "fetch", percent: null, indeterminate: true });
    expect([record.status, record.source]).toEqual(["queued", { type: "url", name: null, url: someUrl }]);
  });

  test("the failure reason is `internal` for clients, without the cause", async () => {
    for (const path of [`/transcriptions/${entered.failed}`, "/transcriptions"]) {
      const text = await (await client.fetch(path)).text();
      expect(text).toContain('"failure_reason":"internal"');
      expect(text).not.toContain("blocked");
    }
  });
});

const jfk = samplePath("jfk.mp3");
test.if(available("the order of recordings that are created at once", ffmpegPath, jfk))(
  "uploads and links that are created at once are listed in the order of their times",
  async () => {
    using server = new ApiServer({ recordingsPerAccount: 1000 });
    const client = server.client("first");
    const file = Bun.file(jfk);
    await Promise.all(
      Array.from({ length: 24 }, (_, count) => post(client, count % 2 === 0 ? { file } : { url: someUrl })),
    );
    const times = (await pageOf(client, "?limit=100")).data.map(({ created_at }) => created_at);
    expect(times).toHaveLength(24);
    expect(times.toSorted().reverse()).toEqual(times);
    const ids = server.idsOf(client.accountId);
    expect(server.queued).toEqual(ids.toSorted());
  },
);
