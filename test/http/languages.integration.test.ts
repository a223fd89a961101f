import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { samplePath } from "../../harness/checkout.ts";
import { errorOf } from "../../harness/client.ts";
import { ApiServer } from "../support/http.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(60_000);

let api: ApiServer;
beforeAll(() => {
  api = new ApiServer();
});
afterAll(() => api[Symbol.dispose]());

const english = { id: "whisper-base.en", languages: [{ code: "en", name: "English", modelCode: "en" }] };

test("the languages follow the model in use from one request to the next, and a create accepts no other", async () => {
  const client = api.client("acme");
  const codes = async () => {
    const { data } = (await (await client.fetch("/languages")).json()) as { data: { code: string }[] };
    return data.map(({ code }) => code);
  };
  const multilingual = api.speechModel;
  expect(await codes()).toContain("de");
  const german = await client.create(samplePath("jfk.mp3"), { language: "de" });

  api.speechModel = english;
  expect(await codes()).toEqual(["en"]);
  const refused = await errorOf(await client.send(samplePath("jfk.mp3"), { language: "de" }), 422);
  expect(JSON.stringify(refused)).toContain("This is not a language code of GET /languages.");
  const spoken = await client.create(samplePath("jfk.mp3"), { language: "en" });
  api.speechModel = multilingual;
  const again = await client.create(samplePath("jfk.mp3"), { language: "de" });

  const modelOf = ({ id }: { id: string }) => api.recordings.get(id)?.speechModel;
  expect([german, spoken, again].map(modelOf)).toEqual(["whisper-base", "whisper-base.en", "whisper-base"]);
  expect(api.recordings.get(german.id)?.pinnedLanguage).toBe("de");
});

test("no answer names the model of a recording", async () => {
  const client = api.client("other");
  const { id } = await client.create(samplePath("jfk.mp3"));
  expect(await (await client.fetch(`/transcriptions/${id}`)).text()).not.toMatch(/whisper|model/);
});
