import { afterAll, describe, expect, test } from "bun:test";
import { readAudit } from "../../../src/accounts/index.ts";
import { Editor, enterSaid } from "../../support/editor.ts";
import { ApiServer } from "../../support/http.ts";
import { refusalOf } from "../../support/secrets.ts";

const server = new ApiServer({ recordingsPerAccount: 2 });
afterAll(() => server[Symbol.dispose]());

const enter = async (account: string, values: Parameters<typeof enterSaid>[3] = {}) => {
  const editor = new Editor(server, account);
  const id = enterSaid(server, editor.client.accountId, ["Good morning."], values);
  await Bun.write(server.dataDirectory.localAudio.pathOf(id), "audio");
  const path = `/transcriptions/${id}/process`;
  const process = (body?: object) => editor.send("POST", path, body);
  return { id, editor, path, process };
};
const message = async (response: Response) => {
  const body = (await response.json()) as { errors?: Record<string, string[]> };
  return [response.status, ...Object.keys(body.errors ?? {})].join(" ");
};

describe("POST /transcriptions/{id}/process", () => {
  test("queues the recording again with the model in use and the language and hints of the create", async () => {
    const values = { pinnedLanguage: "de", prompt: "Zau", minSpeakers: 2, maxSpeakers: 2 };
    const { id, editor, path, process } = await enter("plain", values);
    expect(await editor.read(path)).toEqual({ processing: null });
    const response = await process();
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ processing: { status: "queued", failure_reason: null } });
    expect(server.recordings.reruns.of(id)).toMatchObject({
      ...{ ...values, speechModel: "whisper-base", rerunBy: `key:${editor.client.keyId}` },
    });
    expect((await editor.client.get(id)).status).toBe("completed");
    expect(await editor.read(path)).toMatchObject({ processing: { status: "queued" } });
    const entries = readAudit(server.store, 100).filter(({ subject }) => subject === id);
    expect(entries).toMatchObject([{ action: "recordings.process", actor: `key:${editor.client.keyId}` }]);
  });

  test("takes another model, language, prompt and number of speakers", async () => {
    const { id, process } = await enter("chosen", { pinnedLanguage: "de", prompt: "Zau", minSpeakers: 2 });
    const response = await process({ model: "whisper-base", language: null, prompt: "", max_speakers: 3 });
    expect(response.status).toBe(202);
    expect(server.recordings.reruns.of(id)).toMatchObject({
      ...{ pinnedLanguage: null, prompt: null, minSpeakers: null, maxSpeakers: 3 },
    });
  });

  test("refuses choices that are not valid under their names", async () => {
    const { process } = await enter("refused");
    const refused: [object, string][] = [
      [{ model: "none" }, "422 model"],
      [{ language: "xx" }, "422 language"],
      [{ language: 1 }, "422 language"],
      [{ speakers: 0 }, "422 speakers"],
      [{ speakers: 2, min_speakers: 2 }, "422 speakers"],
      [{ min_speakers: 3, max_speakers: 2 }, "422 min_speakers"],
      [{ prompt: "x,".repeat(1500) }, "422 prompt"],
      [{ prompt: "a\u0000b" }, "422 prompt"],
      [{ prompt: "x".repeat(8001) }, "422 prompt"],
      [{ task: "summarize" }, "422 task"],
    ];
    for (const [body, expected] of refused) {
      const response = await process(body);
      expect(await response.clone().text()).not.toContain("It is not valid.");
      expect([body, await message(response)]).toEqual([body, expected]);
    }
  });

  test("translates it as well, or no more, and names the models that can", async () => {
    const { id, process } = await enter("translated");
    server.translationRefusal = "The model large-v3-turbo does not translate. These installed models do: whisper-base.";
    const refused = await process({ task: "translate" });
    server.translationRefusal = null;
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("whisper-base")]);
    expect((await process({ task: "translate" })).status).toBe(202);
    expect(server.recordings.reruns.of(id)?.isTranslated).toBe(true);
    const other = await enter("not-translated", { isTranslated: true });
    expect((await other.process({ task: "transcribe" })).status).toBe(202);
    expect(server.recordings.reruns.of(other.id)?.isTranslated).toBe(false);
  });

  test("is 409 while it is processed again, which can be cancelled, and for a recording that can't be", async () => {
    const { id, editor, process } = await enter("conflicts");
    await process();
    expect(await refusalOf(await process())).toBe("409 transcription_still_processing");
    expect((await editor.send("POST", `/transcriptions/${id}/cancel`)).status).toBe(200);
    expect((await editor.client.get(id)).status).toBe("completed");
    expect(await editor.read(`/transcriptions/${id}/process`)).toMatchObject({ processing: { status: "failed" } });
    expect(await refusalOf(await editor.send("POST", `/transcriptions/${id}/cancel`))).toBe(
      "409 transcription_has_ended",
    );
    expect((await process()).status).toBe(202);
    const failed = server.enterFailed(editor.client.accountId);
    expect(await refusalOf(await editor.send("POST", `/transcriptions/${failed}/process`))).toBe(
      "409 transcription_is_not_ready",
    );
    const silent = enterSaid(server, editor.client.accountId, ["Good morning."]);
    expect(await refusalOf(await editor.send("POST", `/transcriptions/${silent}/process`))).toBe(
      "409 audio_not_stored",
    );
  });

  test("takes one of the account's places", async () => {
    const { editor, process } = await enter("places");
    for (const _ of [1, 2]) server.enterQueued(editor.client.accountId);
    expect(await refusalOf(await process())).toBe("409 concurrency_limit");
  });
});
