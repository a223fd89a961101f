import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { editingOperations } from "../../../src/http/api/editing/operations.ts";
import { type Scope, scopes } from "../../../src/keys/index.ts";
import { Editor, enterSaid } from "../../support/editor.ts";
import { ApiServer } from "../../support/http.ts";
import { refusalOf } from "../../support/secrets.ts";

const server = new ApiServer({ recordingsPerAccount: 1000 });
afterAll(() => server[Symbol.dispose]());
const workspace = server.workspace("first", "Newsroom");
const { id: accountId } = server.account("first");
const ofWorkspace = { workspaceId: workspace.id };

/** Valid bodies of the operations that have one, and the revision that they change. */
const bodies: Readonly<Record<string, object>> = {
  nameSpeakers: { names: { A: "Ada" } },
  mergeSpeakers: { speaker: "B", into: "A" },
  setTags: { tags: ["board"] },
  correctSegments: { corrections: [{ index: 0, text: "Changed." }] },
};

const ofRecording = Object.entries(editingOperations).filter(([, { path }]) => path.includes(":id"));

for (const [name, { method, path, scope }] of ofRecording) {
  describe(`${method} ${path}`, () => {
    const enter = () => {
      if (name === "cancelTranscription") return server.enterQueued(accountId, ofWorkspace);
      const id = enterSaid(server, accountId, ["Good morning.", "Yes."], ofWorkspace);
      writeFileSync(server.dataDirectory.localAudio.pathOf(id), "audio");
      return id;
    };
    const send = (by: Editor, id: string, headers: Record<string, string> = {}) => {
      const target = path.replace(":id", id).replace(":number", "0");
      return by.send(method, target, bodies[name], method === "GET" ? undefined : 0, headers);
    };

    test(`needs ${scope} and no other scope`, async () => {
      const alone = new Editor(server, "first", { scopes: [scope] });
      expect((await send(alone, enter())).status).toBeLessThan(300);
      const others = new Editor(server, "first", { scopes: scopes.filter((other): other is Scope => other !== scope) });
      const response = await send(others, enter());
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: "insufficient_scope", required: scope });
    });

    test("does not let a key learn of recordings of other accounts, nor change those of other workspaces", async () => {
      const id = enter();
      const stranger = new Editor(server, "second");
      const unknown = await send(stranger, "0192a4d5-0000-7000-8000-000000000001");
      const foreign = await send(stranger, id);
      expect([foreign.status, await foreign.text()]).toEqual([404, await unknown.text()]);
      const elsewhere = new Editor(server, "first", { workspace: server.workspace("first", crypto.randomUUID()) });
      expect(await refusalOf(await send(elsewhere, id))).toBe("403 workspace_scope_mismatch");
      expect((await send(new Editor(server, "first", { workspace }), id)).status).toBeLessThan(300);
      expect(await refusalOf(await send(stranger, "x"))).toBe("404 not_found");
    });

    test("is 404 of a deleted recording", async () => {
      const own = new Editor(server, "first");
      const id = enterSaid(server, accountId, ["Good morning."], ofWorkspace);
      expect((await own.send("DELETE", `/transcriptions/${id}`)).status).toBe(204);
      expect(await refusalOf(await send(own, id))).toBe("404 not_found");
    });

    // The others give the same result however often they are sent.
    if (method !== "POST") return;

    test("is executed once with an Idempotency-Key, and gives the first answer again", async () => {
      const own = new Editor(server, "first");
      const id = enter();
      const key = { "Idempotency-Key": crypto.randomUUID() };
      const first = await send(own, id, key);
      const state = server.recordings.get(id);
      const again = await send(own, id, key);
      expect([again.status, await again.text()]).toEqual([first.status, await first.text()]);
      expect([first, again].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, "true"]);
      expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
      expect(again.headers.get("location")).toBeNull();
      expect(server.recordings.get(id)).toEqual(state);
      const other = await send(own, enter(), key);
      expect(await refusalOf(other)).toBe("409 idempotency_key_reused");
      expect(await refusalOf(await send(own, id, { "Idempotency-Key": "ä" }))).toBe("422 validation_failed");
    });
  });
}

test("a new key has no scope for changes unless it is asked for", async () => {
  const id = server.enterQueued(accountId);
  const usual = server.client("first");
  const response = await usual.fetch(`/transcriptions/${id}/cancel`, { method: "POST" });
  expect(await refusalOf(response)).toBe("403 insufficient_scope");
});
