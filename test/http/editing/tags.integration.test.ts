import { afterAll, describe, expect, test } from "bun:test";
import { bodyOf } from "../../../harness/client.ts";
import { readAudit } from "../../../src/accounts/index.ts";
import { editing, transcriptionPageSchema } from "../../../src/api-contract/index.ts";
import { Editor, enterSaid } from "../../support/editor.ts";
import { ApiServer } from "../../support/http.ts";
import { refusalOf } from "../../support/secrets.ts";

const server = new ApiServer({ recordingsPerAccount: 1000 });
afterAll(() => server[Symbol.dispose]());

const tag = (editor: Editor, id: string, ...tags: unknown[]) =>
  editor.send("PUT", `/transcriptions/${id}/tags`, { tags });
const listed = async (editor: Editor, query: string) => {
  const page = await bodyOf(await editor.client.fetch(`/transcriptions?${query}`), 200, transcriptionPageSchema);
  return page.data.map(({ id }) => id);
};

describe("the tags of a recording", () => {
  const editor = new Editor(server, "tags");
  const { accountId } = editor.client;

  test("are replaced as a whole, in any state, each once and sorted", async () => {
    for (const id of [
      server.enterQueued(accountId),
      server.enterFailed(accountId),
      server.enterCompleted(accountId, 1),
    ]) {
      const path = `/transcriptions/${id}/tags`;
      expect(await editor.read(path)).toEqual({ tags: [] });
      const answer = await (await tag(editor, id, "board", " 2026 ", "board", "Board")).json();
      expect(answer).toEqual({ tags: ["2026", "Board", "board"] });
      expect(await editor.read<unknown>(path)).toEqual(answer);
      expect(await (await tag(editor, id)).json()).toEqual({ tags: [] });
    }
    const [entry] = readAudit(server.store, 1);
    expect(entry).toMatchObject({ action: "recordings.tag", actor: `key:${editor.client.keyId}` });
  });

  test("are replaced by a request with unknown fields, also after they were read", async () => {
    const id = server.enterQueued(accountId);
    await editor.read(`/transcriptions/${id}/tags`);
    const body = { "": 1, later: true, tags: ["board"] };
    expect((await editor.send("PUT", `/transcriptions/${id}/tags`, body)).status).toBe(200);
  });

  test("are at most 20, of 1 to 50 characters without commas and control characters", async () => {
    const id = server.enterQueued(accountId);
    const many = Array.from({ length: 20 }, (_, index) => `tag ${index}`);
    expect((await tag(editor, id, ...many, "語".repeat(50))).status).toBe(422);
    expect((await tag(editor, id, ...many.slice(1), "語".repeat(50))).status).toBe(200);
    for (const wrong of ["", " ", "x".repeat(51), "a,b", "a\u0000b", "a\nb", 7, null]) {
      expect([wrong, await refusalOf(await tag(editor, id, wrong))]).toEqual([wrong, "422 validation_failed"]);
    }
    expect((await editor.read<{ tags: string[] }>(`/transcriptions/${id}/tags`)).tags).toHaveLength(20);
  });

  test("change no answer of version 1, and are gone with the recording", async () => {
    const id = enterSaid(server, accountId, ["Good morning."]);
    const before = await (await editor.client.fetch(`/transcriptions/${id}`)).text();
    const list = await (await editor.client.fetch("/transcriptions")).text();
    await tag(editor, id, "Xylophonquartett");
    expect(await (await editor.client.fetch(`/transcriptions/${id}`)).text()).toBe(before);
    expect(await (await editor.client.fetch("/transcriptions")).text()).toBe(list);
    expect((await editor.send("DELETE", `/transcriptions/${id}`)).status).toBe(204);
    expect(server.filesHolding("Xylophonquartett")).toEqual([]);
  });
});

describe("a list with a tag", () => {
  test("has the recordings of the account with exactly this tag, in pages, together with other filters", async () => {
    const editor = new Editor(server, "list");
    const { accountId } = editor.client;
    const ids = Array.from({ length: 6 }, () => server.enterQueued(accountId));
    for (const id of ids.slice(0, 5)) await tag(editor, id, "board");
    await tag(editor, ids[5] ?? "", "Board");
    server.recordings.fail(ids[0] ?? "", { reason: "no_speech" });
    const stranger = new Editor(server, "stranger");
    await tag(stranger, server.enterQueued(stranger.client.accountId), "board");
    const newest = ids.slice(0, 5).toReversed();
    expect(await listed(editor, "tag=board")).toEqual(newest);
    expect(await listed(editor, "tag=%20board")).toEqual(newest);
    expect(await listed(editor, "tag=board&status=failed")).toEqual(ids.slice(0, 1));
    expect(await listed(editor, "tag=none")).toEqual([]);
    const first = await bodyOf(
      await editor.client.fetch("/transcriptions?tag=board&limit=3"),
      200,
      transcriptionPageSchema,
    );
    expect(await listed(editor, `tag=board&limit=3&cursor=${first.next_cursor}`)).toEqual(newest.slice(3));
    for (const query of ["tag=", "tag=a,b", `tag=${"x".repeat(201)}`, "tag=a&tag=b"]) {
      expect(await refusalOf(await editor.client.fetch(`/transcriptions?${query}`))).toBe("422 validation_failed");
    }
  });

  test("has only recordings of the key's workspace", async () => {
    const workspace = server.workspace("pinned", "Newsroom");
    const whole = new Editor(server, "pinned");
    const pinned = new Editor(server, "pinned", { workspace });
    const inside = server.enterQueued(whole.client.accountId, { workspaceId: workspace.id });
    const outside = server.enterQueued(whole.client.accountId);
    for (const id of [inside, outside]) await tag(whole, id, "board");
    expect(await listed(pinned, "tag=board")).toEqual([inside]);
    expect(await listed(whole, "tag=board")).toEqual([outside, inside]);
  });
});

describe("GET /search", () => {
  const search = async (editor: Editor, query: Record<string, string>) => {
    for (;;) {
      const response = await editor.client.fetch(`/search?${new URLSearchParams(query)}`);
      const page = await bodyOf(response, 200, editing.foundPageSchema);
      if (!page.is_partial) return page;
      await Bun.sleep(5);
    }
  };

  test("finds recordings by the words of a segment, with their tags and the places", async () => {
    const editor = new Editor(server, "search");
    const { accountId } = editor.client;
    const id = enterSaid(server, accountId, ["The annual budget.", "It is too small.", "No budget."]);
    const other = enterSaid(server, accountId, ["A budget elsewhere."]);
    enterSaid(server, new Editor(server, "foreign").client.accountId, ["A foreign budget."]);
    await tag(editor, id, "board");
    server.events.deliver();
    const { data } = await search(editor, { q: "BUDGET", tag: "board" });
    expect(data).toMatchObject([
      {
        transcription: { id, status: "completed", progress: { step: null } },
        tags: ["board"],
        hits: [
          { index: 0, start: 0, text: "The annual budget.", marks: [{ start: 11, end: 17 }] },
          { index: 2, start: 2 },
        ],
        has_more_hits: false,
      },
    ]);
    const all = await search(editor, { q: "budget" });
    expect(all.data.map(({ transcription }) => transcription.id)).toEqual([other, id]);
    const first = await search(editor, { q: "budget", limit: "1" });
    expect(first.has_more).toBeTrue();
    const second = await search(editor, { q: "budget", limit: "1", cursor: first.next_cursor });
    expect([second.data.map(({ transcription }) => transcription.id), second.next_cursor]).toEqual([[id], ""]);
    expect((await search(editor, { q: "..." })).data).toEqual([]);
    expect((await search(editor, { q: "budget", status: "failed" })).data).toEqual([]);
  });

  test("finds the texts of corrections and restorations", async () => {
    const editor = new Editor(server, "corrected");
    const id = enterSaid(server, editor.client.accountId, ["We met in June."]);
    server.events.deliver();
    const corrections = [{ index: 0, text: "We met in Juli." }];
    await search(editor, { q: "june" });
    await editor.send("POST", `/transcriptions/${id}/corrections`, { corrections }, 0);
    expect((await search(editor, { q: "june" })).data).toEqual([]);
    expect((await search(editor, { q: "juli" })).data).toHaveLength(1);
    await editor.send("POST", `/transcriptions/${id}/revisions/0/restore`, undefined, 1);
    expect((await search(editor, { q: "june" })).data).toHaveLength(1);
  });

  test("shows a key nothing outside its workspace, needs a scope, and refuses queries that are not valid", async () => {
    const workspace = server.workspace("rooms", "Newsroom");
    const pinned = new Editor(server, "rooms", { workspace });
    enterSaid(server, pinned.client.accountId, ["A secret."]);
    const inside = enterSaid(server, pinned.client.accountId, ["A secret inside."], { workspaceId: workspace.id });
    server.events.deliver();
    const { data } = await search(pinned, { q: "secret" });
    expect(data.map(({ transcription }) => transcription.id)).toEqual([inside]);
    for (const query of [
      "",
      "q=",
      `q=${"x".repeat(201)}`,
      "q=a&limit=0",
      "q=a&status=x",
      "q=a&cursor=x",
      "q=a&tag=,",
    ]) {
      expect(await refusalOf(await pinned.client.fetch(`/search?${query}`))).toBe("422 validation_failed");
    }
    const other = new Editor(server, "rooms", { scopes: ["transcriptions:edit"] });
    expect(await refusalOf(await other.client.fetch("/search?q=secret"))).toBe("403 insufficient_scope");
  });
});
