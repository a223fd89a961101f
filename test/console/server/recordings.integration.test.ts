import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { recordingPageSchema, recordingSchema } from "../../../src/console/contract/index.ts";
import { ConsoleServer } from "../../support/console.ts";

/** Extensions of exports that differ from the name of the format. */
const extensions: Readonly<Record<string, string>> = {
  textgrid: "TextGrid",
  whisper: "whisper.json",
  podcast: "podcast.json",
};

setDefaultTimeout(60_000);

const idsOf = (page: { recordings: readonly { id: string }[] }) => page.recordings.map(({ id }) => id);

describe("the list of recordings", () => {
  test("shows the recordings of all accounts, newest first, with account, workspace and progress", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const [first, second] = [api.account("first"), api.account("second")];
    const sales = api.workspace("second", "sales");
    const failed = api.enterFailed(first.id);
    const queued = api.enterQueued(second.id, { sourceName: "call", workspaceId: sales.id });
    const running = api.enterProcessing(first.id, { sourceUrl: "https://media.example.org/a.mp3", sourceName: null });
    api.recordings.progress(running, "transcribe", 40);
    const operator = await server.operator();
    const page = await operator.read("/recordings", recordingPageSchema);
    expect(page.recordings).toMatchObject([
      {
        id: running,
        account: { name: "first" },
        source: { name: null, url: "https://media.example.org/a.mp3" },
        progress: { step: "transcribe", percent: 40, indeterminate: false },
      },
      { id: queued, account: { name: "second" }, workspace: { id: sales.id, name: "sales" }, source: { name: "call" } },
      { id: failed, failure: { reason: "internal", cause: "fetch_blocked_address" }, held: false },
    ]);
    expect(page.next_cursor).toBeNull();
  });

  test("is filtered by status, account and workspace", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const [first, second] = [api.account("first"), api.account("second")];
    const sales = api.workspace("first", "sales");
    const [a, b, c] = [
      api.enterCompleted(first.id, 1),
      api.enterFailed(first.id, { workspaceId: sales.id }),
      api.enterQueued(second.id),
    ];
    const operator = await server.operator();
    const cases: [string, string[]][] = [
      ["status=completed", [a]],
      ["status=failed,queued", [c, b]],
      [`account=${first.id}`, [b, a]],
      [`workspace=${sales.id}`, [b]],
      [`account=${second.id}&status=completed`, []],
    ];
    for (const [query, ids] of cases) {
      expect([query, idsOf(await operator.read(`/recordings?${query}`, recordingPageSchema))]).toEqual([query, ids]);
    }
  });

  test("has pages that stay the same while recordings arrive", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const { id: account } = api.account("first");
    const entered = Array.from({ length: 5 }, () => api.enterQueued(account)).reverse();
    const operator = await server.operator();
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { recordings: { id: string }[]; next_cursor: string | null } = await operator.read(
        `/recordings?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`,
        recordingPageSchema,
      );
      seen.push(...idsOf(page));
      cursor = page.next_cursor;
      api.enterQueued(account);
    }
    expect(seen).toEqual(entered);
  });

  const wrong: [string, string][] = [
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["status=done", "status"],
    ["cursor=x", "cursor"],
    ["q=", "q"],
    [`q=${"x".repeat(201)}`, "q"],
  ];
  test.each(wrong)("reports the fault of %s", async (query, field) => {
    using server = new ConsoleServer();
    const answer = await (await server.operator()).data(`/recordings?${query}`);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: "validation_failed", field } });
  });
});

describe("one recording", () => {
  test("that has completed shows its speakers with their shares of the speech", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["One two.", "Three.", "Four."]);
    const recording = await (await server.operator()).read(`/recordings/${id}`, recordingSchema);
    expect(recording).toMatchObject({
      ...{ id, status: "completed", language: "en", duration_seconds: 3, segments: 3, place: null, problem: null },
      ...{ model: "whisper-base", size_bytes: 1000, progress: { step: null, percent: 100 } },
      exports: [
        ...["txt", "srt", "vtt", "pdf", "docx", "json", "rttm", "csv", "textgrid", "eaf", "tsv", "lrc"],
        ...["md", "ttml", "exb", "whisper", "podcast"],
      ].map((format) => ({ format, file_name: `interview.${extensions[format] ?? format}` })),
      playback_copy: { state: "none", message: expect.stringContaining("no longer stored") },
    });
    const [ann, bob] = recording.speakers;
    expect(ann).toMatchObject({ speaker: "A", name: null, seconds: 1.8, segments: 2 });
    expect(bob).toMatchObject({ speaker: "B", seconds: 0.9, segments: 1 });
    expect(ann?.share).toBeCloseTo(2 / 3);
  });

  test("whose parts several models recognized shows how many parts each recognized", async () => {
    using server = new ConsoleServer();
    const { id: account } = server.api.account("first");
    const id = server.api.enterProcessing(account);
    const operator = await server.operator();
    expect(await operator.read(`/recordings/${id}`, recordingSchema)).toMatchObject({ models: [] });
    const { rows } = server.api.recordings;
    for (const model of ["parakeet", "whisper-base", "parakeet"]) rows.countRecognized(id, model, 1);
    expect((await operator.read(`/recordings/${id}`, recordingSchema)).models).toEqual([
      { model: "parakeet", parts: 2 },
      { model: "whisper-base", parts: 1 },
    ]);
  });

  test("that is queued shows its place in the queue, and the problem that keeps it waiting", async () => {
    using server = new ConsoleServer();
    const { id: account } = server.api.account("first");
    const [one, two] = [server.api.enterQueued(account), server.api.enterQueued(account)];
    server.waiting = [two, one];
    server.troubles.set(one, "disk_full");
    const operator = await server.operator();
    expect(await operator.read(`/recordings/${two}`, recordingSchema)).toMatchObject({ place: 1, problem: null });
    const shown = await operator.read(`/recordings/${one}`, recordingSchema);
    expect(shown).toMatchObject({ place: 2, speakers: [], segments: 0, exports: [] });
    expect(shown.problem).toContain("disk");
    server.fleetProblem = "no worker of the fleet is present";
    expect((await operator.read(`/recordings/${two}`, recordingSchema)).problem).toBe(server.fleetProblem);
    const failed = server.api.enterFailed(account);
    expect((await operator.read(`/recordings/${failed}`, recordingSchema)).problem).toBeNull();
  });

  test.each(["0", "0191e5a0-0000-7000-8000-000000000000", "..", "%00"])("is answered 404 for %p", async (id) => {
    using server = new ConsoleServer();
    const operator = await server.operator();
    for (const path of ["", "/segments", "/outline", "/find?q=x", "/playback", "/audio", "/waveform", "/exports/txt"]) {
      expect(await operator.refusal(operator.data(`/recordings/${encodeURIComponent(id)}${path}`), 404)).toBe(
        "not_found",
      );
    }
  });
});

describe("deleting a recording", () => {
  test("leaves nothing of it, including in the search index", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Xylophone."]);
    const { dataDirectory, store } = server.api;
    writeFileSync(dataDirectory.localAudio.pathOf(id), "sound");
    const operator = await server.operator();
    await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: "Zebulon" } });
    expect((await operator.send("DELETE", `/recordings/${id}`)).status).toBe(204);
    expect(existsSync(dataDirectory.localAudio.pathOf(id))).toBe(false);
    expect((await operator.data(`/recordings/${id}`)).status).toBe(404);
    expect(idsOf(await operator.read("/recordings?q=xylophone", recordingPageSchema))).toEqual([]);
    store.$client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    for (const text of ["Xylophone", "xylophone", "Zebulon"]) expect(server.api.filesHolding(text)).toEqual([]);
    const audit = store.$client.query("SELECT actor, action, subject FROM audit_log ORDER BY id DESC LIMIT 1").get();
    expect(audit).toEqual({ actor: "operator (console)", action: "recordings.delete", subject: id });
  });

  test("is refused while it is queued, processing or protected", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const { id: account } = api.account("first");
    const [queued, held] = [api.enterQueued(account), api.enterCompleted(account, 1)];
    api.recordings.setHold(held, true);
    const operator = await server.operator();
    expect(await operator.refusal(operator.send("DELETE", `/recordings/${queued}`), 409)).toBe("still_processing");
    expect(await operator.refusal(operator.send("DELETE", `/recordings/${held}`), 403)).toBe("held");
    expect((await operator.data(`/recordings/${held}`)).status).toBe(200);
  });
});
