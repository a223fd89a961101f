import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { bodyOf } from "../../../harness/client.ts";
import { changeAccount } from "../../../src/accounts/index.ts";
import {
  overviewSchema,
  processingOptionsSchema,
  recordingPageSchema,
  recordingSchema,
} from "../../../src/console/contract/index.ts";
import { ConsoleServer, said } from "../../support/console.ts";
import { signedIn } from "./people.ts";

setDefaultTimeout(60_000);

async function opened(server: ConsoleServer) {
  const { api } = server;
  const client = api.client("first");
  const id = await server.enterSaid("first", ["We met in June.", "Yes, we did."]);
  writeFileSync(api.dataDirectory.localAudio.pathOf(id), "audio");
  const member = await signedIn(server, "member@example.org", "member", ["first"]);
  const path = `/recordings/${id}`;
  const start = (body: Record<string, unknown> = {}) =>
    member.send("POST", `${path}/processing`, { model: "whisper-base", language: "de", ...body });
  const rerun = () => api.recordings.reruns.of(id)?.id ?? "";
  const shown = () => member.read(path, recordingSchema);
  return { api, client, id, path, member, start, rerun, shown };
}

describe("a completed recording in the console", () => {
  test("is processed again by a member, while clients of the API see it completed, then with the new transcript", async () => {
    using server = new ConsoleServer();
    const { api, client, id, member, start, rerun, shown } = await opened(server);
    const before = await client.get(id);
    const etagOf = async () => (await client.fetch(`/transcriptions/${id}/export?format=txt`)).headers.get("etag");
    const etag = await etagOf();
    server.waiting = ["other"];
    expect((await bodyOf(await start(), 200, recordingSchema)).processed_again).toMatchObject({
      status: "queued",
      place: null,
      failure: null,
      model: "whisper-base",
    });
    server.waiting = ["other", rerun()];
    expect((await shown()).processed_again?.place).toBe(2);
    api.recordings.claim(rerun());
    api.recordings.progress(rerun(), "transcribe", 40);
    const overview = await (await server.operator()).read("/overview", overviewSchema);
    expect(overview.recordings).toMatchObject([{ id, name: "interview", status: "processing" }]);
    expect((await shown()).processed_again).toMatchObject({ status: "processing", progress: { step: "transcribe" } });
    expect([await client.get(id), await etagOf()]).toEqual([before, etag]);
    const list = (await (await client.fetch("/transcriptions")).json()) as { data: unknown[] };
    expect(list.data).toHaveLength(1);
    expect((await client.fetch(`/transcriptions/${rerun()}`)).status).toBe(404);
    expect((await member.data(`/recordings/${rerun()}`)).status).toBe(404);
    api.recordings.describe(rerun(), { language: "de" });
    api.recordings.complete(rerun(), ["Wir trafen uns.", "Ja."].map(said));
    expect(await client.get(id)).toMatchObject({ status: "completed", language: "de", created_at: before.created_at });
    expect((await client.segments(id)).map(({ text }) => text)).toEqual(["Wir trafen uns.", "Ja."]);
    expect(await etagOf()).not.toBe(etag);
    await server.searched();
    const found = async (word: string) => (await member.read(`/recordings?q=${word}`, recordingPageSchema)).recordings;
    expect([(await found("trafen")).length, (await found("June")).length]).toEqual([1, 0]);
    expect(await shown()).toMatchObject({ processed_again: null, corrected: { revision: 1 } });
    const body = { editor: "page-one", sequence: 1, seen: 1, shown: 1, correction: { action: "restore", revision: 0 } };
    expect((await member.send("POST", `/recordings/${id}/corrections`, body)).status).toBe(200);
    expect((await client.segments(id))[0]?.text).toBe("We met in June.");
    expect((await client.get(id)).language).toBe("en");
    await server.searched();
    expect([(await found("trafen")).length, (await found("June")).length]).toEqual([0, 1]);
  });

  test("offers the installed models with their languages, and the language that was given", async () => {
    using server = new ConsoleServer();
    const { member, path } = await opened(server);
    const options = await member.read(`${path}/processing`, processingOptionsSchema);
    expect(options.models.map(({ id }) => id)).toEqual(["whisper-base", "english-only"]);
    expect(options.models[1]?.languages).toEqual([{ code: "en", name: "English" }]);
    expect(options.language).toBeNull();
  });

  test.each([
    ["an unknown model", { model: "whisper-enormous" }, 422, "model is not installed"],
    ["a path as model", { model: "/etc/passwd" }, 422, "model is not installed"],
    ["a language that no model knows", { language: "xx" }, 422, "does not know"],
    ["a language that the chosen model does not know", { model: "english-only" }, 422, "does not know"],
    ["no model", { model: undefined }, 422, "model is not valid"],
    ["a further field", { audio: "/etc/passwd" }, 422, "not valid"],
  ])("is not queued with %s", async (_, body, status, message) => {
    using server = new ConsoleServer();
    const { api, start, rerun } = await opened(server);
    const answer = await start(body);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(message)]);
    expect([rerun(), api.recordings.reruns.open()]).toEqual(["", []]);
  });

  test("is not processed again without its audio, twice at once, or beyond the limit of its account", async () => {
    using server = new ConsoleServer();
    const { api, client, id, start, rerun } = await opened(server);
    const refusal = async () => {
      const answer = await start();
      return `${answer.status} ${((await answer.json()) as { error: { message: string } }).error.message}`;
    };
    for (let open = 0; open < api.limits.recordings_per_account; open++) api.enterQueued(client.accountId);
    expect(await refusal()).toContain("409 The account has as many queued and processing recordings");
    for (const each of api.recordings.open.list().queued) api.recordings.fail(each.id, { reason: "no_speech" });
    expect((await start()).status).toBe(200);
    expect(await refusal()).toContain("409 The recording is being processed again already");
    // A place of the clients is not taken.
    expect(api.recordings.open.countOf(client.accountId)).toBe(0);
    api.recordings.fail(rerun(), { reason: "no_speech" });
    await api.dataDirectory.audio.remove(id);
    expect(await refusal()).toContain("409 The audio of the recording is no longer stored");
    changeAccount(api.store, api.account("first"), api.operator(), { standing: "restricted" });
    expect((await start()).status).toBe(403);
  });

  test.each(["queued", "processing", "failed"] as const)("is not processed again while it is %s", async (status) => {
    using server = new ConsoleServer();
    const { api, client, member } = await opened(server);
    const id =
      status === "failed"
        ? api.enterFailed(client.accountId)
        : status === "queued"
          ? api.enterQueued(client.accountId)
          : api.enterProcessing(client.accountId);
    const answer = await member.send("POST", `/recordings/${id}/processing`, { model: "whisper-base", language: null });
    expect(await member.refusal(answer, 409)).toBe("not_ready");
    expect(await client.get(id)).toMatchObject({ status });
  });

  test("keeps its transcript when its processing is cancelled or fails, and shows why", async () => {
    using server = new ConsoleServer();
    const { api, client, id, path, member, start, rerun, shown } = await opened(server);
    const before = await client.get(id);
    await start();
    api.usage.admit(client.accountId, rerun(), 1000, api.now());
    api.usage.chargeAudio(rerun(), 60, 1000);
    await bodyOf(await member.send("DELETE", `${path}/processing`), 200, recordingSchema);
    expect(api.usage.audioSeconds(client.accountId, api.now())).toBe(0);
    expect((await shown()).processed_again).toMatchObject({ status: "failed", failure: { reason: "internal" } });
    const again = await member.send("DELETE", `${path}/processing`);
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining("is not being processed again")]);
    await start({ language: null });
    api.recordings.fail(rerun(), { reason: "quota_exceeded" });
    expect((await shown()).processed_again?.failure).toEqual({ reason: "quota_exceeded", cause: null });
    expect(await client.get(id)).toEqual(before);
  });

  test("can be deleted by a client while it is processed again, and nothing of either is left", async () => {
    using server = new ConsoleServer();
    const { api, client, id, start, rerun } = await opened(server);
    await start();
    const left = rerun();
    api.recordings.claim(left);
    expect((await client.fetch(`/transcriptions/${id}`, { method: "DELETE" })).status).toBe(204);
    const rows = api.store.$client.query("SELECT id FROM recordings").all();
    expect([rows, api.filesIn("uploads"), api.recordings.get(left)]).toEqual([[], [], null]);
  });
});
