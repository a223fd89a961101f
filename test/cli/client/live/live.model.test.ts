import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, samplePath } from "../../../../harness/checkout.ts";
import { runCli, startTimeout, TestServer } from "../../../../harness/server.ts";

const jfk = samplePath("jfk.mp3");
/** Recognition, on a machine that also runs a build. */
const timeout = 180_000;

describe.if(available("tests of live sessions", jfk))("live with a real server", () => {
  const server = new TestServer();
  beforeAll(async () => {
    await server.start();
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test(
    "prints the words of a recording with their speaker, and the session becomes a recording with the same words",
    async () => {
      const { key, baseUrl } = server.client("speaker");
      const environment = { TRANSCRIBE_SERVER: baseUrl, TRANSCRIBE_API_KEY: key };
      const { exitCode, stdout, stderr } = await runCli(["live", jfk, "--language", "en"], environment);
      expect([exitCode, stderr]).toEqual([0, ""]);
      const lines = stdout.trimEnd().split("\n");
      const id = lines.pop()?.replace("recording ", "") ?? "";
      for (const line of lines) expect(line).toMatch(/^ +\d+:\d\d\.\d – \d+:\d\d\.\d +S1 {2}\S| {10}/);
      expect(wordsOf(lines.map((line) => line.replace(/^.* S1 {2}/, "")).join(" "))).toContain(
        "ask not what your country can do for you ask what you can do for your country",
      );
      const watched = await runCli(["watch", id, "--json"], environment);
      expect(JSON.parse(watched.stdout)).toEqual([
        expect.objectContaining({ id, status: "completed", source: expect.objectContaining({ name: "jfk" }) }),
      ]);
      const read = await runCli(["export", id, "--format", "txt"], environment);
      expect(wordsOf(read.stdout)).toContain("ask what you can do for your country");
    },
    timeout,
  );

  test(
    "keeps nothing of a session that is not to be kept",
    async () => {
      const { key, baseUrl } = server.client("private");
      const environment = { TRANSCRIBE_SERVER: baseUrl, TRANSCRIBE_API_KEY: key };
      const { exitCode, stdout } = await runCli(["live", jfk, "--fast", "--no-keep", "--json"], environment);
      const events = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect([exitCode, events.at(-1)]).toEqual([0, { type: "ended", reason: "client", recording_id: null }]);
      expect(wordsOf(events.map((event) => (event.type === "final" ? event.segment.text : "")).join(" "))).toContain(
        "ask what you can do for your country",
      );
      expect(JSON.parse((await runCli(["list", "--json"], environment)).stdout)).toEqual([]);
    },
    timeout,
  );
});

/** Returns the words of a text in lower case, without punctuation. */
function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[a-z']+/g) ?? []).join(" ");
}
