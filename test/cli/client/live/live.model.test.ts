import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, samplePath } from "../../../../harness/checkout.ts";
import { programCommand } from "../../../../harness/program.ts";
import { environmentWith, lines, runCli, startTimeout, TestServer } from "../../../../harness/server.ts";
import { errorRate, wordErrors } from "../../../../harness/wer.ts";

const jfk = samplePath("jfk.mp3");
/** Recognition, on a machine that also runs a build. */
const timeout = 180_000;
/** The spoken words. */
const WORDS =
  "And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.";

/** Checks most words of a text: recognition with the small model depends on the load of the machine. */
function expectSpoken(text: string): void {
  expect(errorRate([wordErrors(WORDS, text)])).toBeLessThan(0.4);
}

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
      expectSpoken(lines.map((line) => line.replace(/^.* S1 {2}/, "")).join(" "));
      const watched = await runCli(["watch", id, "--json"], environment);
      expect(JSON.parse(watched.stdout)).toEqual([
        expect.objectContaining({ id, status: "completed", source: expect.objectContaining({ name: "jfk" }) }),
      ]);
      const read = await runCli(["export", id, "--format", "txt"], environment);
      expectSpoken(read.stdout);
    },
    timeout,
  );

  test(
    "resumes after the server was killed and started again, and loses no word",
    server.showingLog(async () => {
      const { key, baseUrl } = server.client("patient");
      const env = environmentWith({ TRANSCRIBE_SERVER: baseUrl, TRANSCRIBE_API_KEY: key });
      const child = Bun.spawn(programCommand("live", jfk, "--language", "en", "--json"), {
        ...{ env, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
      });
      const texts: string[] = [];
      const types: string[] = [];
      for await (const line of lines(child.stdout)) {
        const event = JSON.parse(line);
        types.push(event.type);
        if (event.type === "final") texts.push(event.segment.text);
        if (event.type === "disconnected") await server.restartOnSamePort();
        if (types.filter((type) => type === "partial").length === 2 && !types.includes("disconnected")) {
          await server.killHard();
        }
      }
      expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
      const connection = types.filter((type) => type === "session" || type === "disconnected").join(" ");
      expect(connection).toBe("session disconnected session");
      expectSpoken(texts.join(" "));
    }),
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
      expectSpoken(events.map((event) => (event.type === "final" ? event.segment.text : "")).join(" "));
      expect(JSON.parse((await runCli(["list", "--json"], environment)).stdout)).toEqual([]);
    },
    timeout,
  );
});
