import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import type { Segment, Transcription } from "../../harness/contract.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { StoppedWorker, storedParts } from "../support/interrupted-recording.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of processing again", ...sampleRecordingNeeds);
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests of processing again; they need /proc");

const CHUNKS = 4;

/** The first transcript has the words of a tiny recognizer, and the second the ones of the built-in model. */
describe.if(ready && canSeeProcesses)("a completed recording", () => {
  const directory = temporaryDirectory();
  const server = new TestServer(tinyRecognizer());
  let key = "";
  /** Returns a client of the present server, whose port changes with each start. */
  const client = () => new TestClient(server.baseUrl, key);

  const cli = async (...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = await server.cli("recordings", ...args);
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Record<string, unknown> & { processed_again?: Record<string, unknown> };
  };
  const completed = async (path: string) => {
    const { id } = await client().create(path, tinyLanguage);
    await client().waitUntilEnded(id, 50);
    await server.untilCleanedUp();
    return { id, before: await client().get(id), segments: await client().segments(id) };
  };
  const idOfRerun = (id: string) => {
    const line = server.log.findLast(({ event, rerunOf }) => event === "recording.started" && rerunOf === id);
    return String(line?.recordingId ?? "");
  };
  /** Waits until a recording has the revision; until then, clients must see it as before. */
  const untilRevision = async (id: string, revision: number, before: Transcription, segments: Segment[]) => {
    for (;;) {
      const [seen, read] = [await client().get(id), await client().segments(id)];
      const { revision: reached } = await cli("show", id, "--json");
      if (reached === revision) return;
      expect([seen, read]).toEqual([before, segments]);
      await Bun.sleep(100);
    }
  };

  beforeAll(async () => {
    await server.start();
    key = server.client("acme").key;
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test(
    "gets the words of another model, and is completed for its clients all the time",
    server.showingLog(async () => {
      const { id, before, segments } = await completed(jfk);
      const etag = async () =>
        (await client().fetch(`/transcriptions/${id}/export?format=txt`)).headers.get("etag") ?? "";
      const first = await etag();
      expect(await cli("process", id, "--model", "whisper-base", "--json")).toMatchObject({
        id,
        status: "queued",
        model: "whisper-base",
        pinned_language: "en",
      });
      await untilRevision(id, 1, before, segments);
      const after = await client().get(id);
      expect(after).toEqual({ ...before, updated_at: after.updated_at });
      expect(after.updated_at > before.updated_at).toBe(true);
      const text = (await client().segments(id)).map((segment) => segment.text).join(" ");
      expect(text).toContain("ask not what your country can do for you");
      expect(await etag()).not.toBe(first);
      const shown = await cli("show", id, "--json");
      expect(shown).toMatchObject({ status: "completed", model: "whisper-base", revision: 1 });
      expect(shown.processed_again).toBeUndefined();
      expect(await server.cli("recordings", "show", id, "--revisions")).toMatchObject({
        stdout: expect.stringMatching(/^1 .* process /m),
      });
      await server.untilCleanedUp();
    }),
    180_000,
  );

  test("is not processed again with a model or language that cannot be used", async () => {
    const { id } = await completed(jfk);
    const refused = async (...options: readonly string[]) => {
      const { exitCode, stderr } = await server.cli("recordings", "process", id, ...options);
      expect([options, exitCode]).toEqual([options, 1]);
      return stderr;
    };
    expect(await refused("--model", "whisper-small")).toContain("models pull whisper-small");
    expect(await refused("--model", "whisper-enormous")).toContain("there is no model");
    expect(await refused("--model", "/etc/passwd")).toContain("there is no model");
    expect(await refused("--model", "campplus")).toContain("not a speech model");
    expect(await refused("--language", "xx", "--model", "whisper-base")).toContain('"xx" is not a language');
    expect((await cli("show", id, "--json")).processed_again).toBeUndefined();
  }, 60_000);

  test(
    "is processed again to the end when the server is killed meanwhile, and no chunk is transcribed twice",
    server.showingLog(async () => {
      const { id, before, segments } = await completed(await makeRecordingOfChunks(directory.path, CHUNKS));
      await cli("process", id, "--json");
      await server.until(() => idOfRerun(id) !== "" && storedParts(server, "transcribe", idOfRerun(id)).length > 0, 2);
      const rerun = idOfRerun(id);
      using worker = new StoppedWorker(server);
      const done = storedParts(server, "transcribe", rerun).length;
      await server.killHard();
      worker.resume();
      await worker.exited();
      const logged = server.log.length;
      await server.start();
      await untilRevision(id, 1, before, segments);
      // The same words of the same model, as a revision.
      expect((await client().segments(id)).map(({ text }) => text)).toEqual(segments.map(({ text }) => text));
      const later = server.log
        .slice(logged)
        .filter(({ event, step }) => event === "recording.part_finished" && step === "transcribe");
      expect(later.length).toBeLessThanOrEqual(CHUNKS - Math.min(done, CHUNKS));
      await server.untilCleanedUp();
    }),
    180_000,
  );

  test(
    "stays as it is when its processing is cancelled, and when its audio is missing, which show reports",
    server.showingLog(async () => {
      const { id, before, segments } = await completed(await makeRecordingOfChunks(directory.path, CHUNKS));
      await cli("process", id, "--json");
      await cli("cancel", id, "--json");
      const cause = async () => (await cli("show", id, "--json")).processed_again?.failure_cause;
      expect(await cause()).toBe("cancelled");
      await server.untilCleanedUp();
      await server.stop();
      await cli("process", id, "--json");
      rmSync(join(server.dataDirectory, "uploads", id));
      await server.start();
      await server.until(async () => (await cause()) === "input_unreadable", 200);
      expect([await client().get(id), await client().segments(id)]).toEqual([before, segments]);
      const { stderr } = await server.cli("recordings", "process", id);
      expect(stderr).toContain("audio is no longer stored");
    }),
    180_000,
  );
});
