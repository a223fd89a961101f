import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, corpusPath, samplePath } from "../support/checkout.ts";
import { spokenText, type TestClient } from "../support/client.ts";
import { startTimeout, TestServer } from "../support/server.ts";

const jfk = samplePath("jfk.mp3");
const jfkFlac = corpusPath("formats/jfk.flac");
const ready = available("e2e tests of one speaker", jfk);
const readyFlac = ready && available("e2e test of jfk.flac", jfkFlac);

describe.if(ready)("one speaker", () => {
  const server = new TestServer();
  let client: TestClient;

  beforeAll(async () => {
    await server.start();
    client = await server.client("one");
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  const readsTheInauguralAddress = async (path: string) => {
    const { ended, segments } = await client.transcribe(path);
    expect(ended).toMatchObject({
      status: "completed",
      language: "en",
      duration_seconds: 11,
      source: { type: "file", name: "jfk", url: null },
      progress: { step: null, percent: 100, indeterminate: false },
      failure_reason: null,
    });
    expect(spokenText(segments)).toContain("ask not what your country can do for you");
    expect(new Set(segments.map((segment) => segment.speaker))).toEqual(new Set(["A"]));
  };

  test.if(readyFlac)(
    'jfk.flac reads "ask not what your country can do for you", in English, by one speaker',
    server.showing(() => readsTheInauguralAddress(jfkFlac)),
    120_000,
  );

  test(
    'jfk.mp3 reads "ask not what your country can do for you", in English, by one speaker',
    server.showing(() => readsTheInauguralAddress(jfk)),
    120_000,
  );
});
