import { afterAll, describe, expect, test } from "bun:test";
import { readAudit } from "../../../src/accounts/index.ts";
import { editingOperations } from "../../../src/http/api/editing/operations.ts";
import { Editor } from "../../support/editor.ts";
import { ApiServer } from "../../support/http.ts";
import { refusalOf } from "../../support/secrets.ts";
import { VoiceAccount, voiceOf } from "../../support/voices.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());

/** Returns an editor of an account that remembers the voices of two speakers, and their ids by name. */
async function withVoices(name: string) {
  const account = await VoiceAccount.create({ store: server.store, name });
  const transcript = account.record([voiceOf(1), voiceOf(2)]);
  transcript.rename(
    new Map([
      [0, "Ada"],
      [1, "Bob"],
    ]),
  );
  for (const speaker of [0, 1]) account.voices.remember(transcript, speaker, server.operator());
  const [ada = "", bob = ""] = account.voices.list(account.id).map(({ id }) => id);
  return { editor: new Editor(server, name), ada, bob };
}

const namesOf = async (response: Response) =>
  ((await response.json()) as { data: { name: string }[] }).data.map(({ name }) => name);

describe("the voices of an account", () => {
  test("are listed, renamed and deleted", async () => {
    const { editor, ada, bob } = await withVoices("acme");
    const listed = await editor.read("/voices");
    expect(listed).toMatchObject({
      enabled: true,
      data: [{ id: ada, name: "Ada", recordings: 1 }, { id: bob }],
    });
    expect(await namesOf(await editor.send("PUT", `/voices/${ada}`, { name: " Zoe " }))).toEqual(["Bob", "Zoe"]);
    expect(readAudit(server.store, 1)).toMatchObject([
      { action: "voices.rename", actor: `key:${editor.client.keyId}`, subject: ada },
    ]);
    expect((await editor.send("DELETE", `/voices/${ada}`)).status).toBe(204);
    expect(await refusalOf(await editor.send("DELETE", `/voices/${ada}`))).toBe("404 not_found");
    expect(await namesOf(await editor.client.fetch("/voices"))).toEqual(["Bob"]);
  });

  test("keep their names when another one is taken or not valid", async () => {
    const { editor, ada } = await withVoices("names");
    for (const name of ["Bob", "", " ", "a\u0007b", "x".repeat(101), 7]) {
      expect(await refusalOf(await editor.send("PUT", `/voices/${ada}`, { name }))).toBe("422 validation_failed");
    }
    expect(await namesOf(await editor.client.fetch("/voices"))).toEqual(["Ada", "Bob"]);
  });

  test("are none of an account that does not remember them", async () => {
    expect(await new Editor(server, "forgetful").read("/voices")).toEqual({ enabled: false, data: [] });
  });

  test("do not exist for other accounts, and are closed to keys of a workspace", async () => {
    const { ada } = await withVoices("closed");
    const stranger = new Editor(server, "stranger");
    const pinned = new Editor(server, "closed", { workspace: server.workspace("closed", "Newsroom") });
    for (const [method, body] of [["PUT", { name: "Eve" }], ["DELETE"]] as const) {
      expect(await refusalOf(await stranger.send(method, `/voices/${ada}`, body))).toBe("404 not_found");
      expect(await refusalOf(await stranger.send(method, "/voices/x", body))).toBe("404 not_found");
      expect(await refusalOf(await pinned.send(method, `/voices/${ada}`, body))).toBe("403 workspace_scope_mismatch");
    }
    expect(await refusalOf(await pinned.client.fetch("/voices"))).toBe("403 workspace_scope_mismatch");
  });

  test("need the scopes of their operations", async () => {
    const { ada } = await withVoices("scopes");
    for (const { method, path, scope } of [
      editingOperations.listVoices,
      editingOperations.renameVoice,
      editingOperations.deleteVoice,
    ]) {
      const usual = new Editor(server, "scopes", { scopes: ["transcriptions:write"] });
      const body = method === "PUT" ? { name: "Eve" } : undefined;
      const response = await usual.send(method, path.replace(":voice", ada), body);
      expect(await response.json()).toMatchObject({ error: "insufficient_scope", required: scope });
    }
  });
});
