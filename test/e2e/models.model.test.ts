import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { canSeeProcesses } from "../../harness/processes.ts";
import { makeRecordingOfChunks, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { interrupt } from "../support/interrupted-recording.ts";
import { tinyLanguage, writeTinyRecognizer } from "../support/tiny-recognizer.ts";
import { basePath } from "../support/whisper.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of switching models", ...sampleRecordingNeeds, basePath);
if (!canSeeProcesses) console.warn("SKIPPED: e2e tests of switching models; they need /proc");
const chunks = 4;

describe.if(ready && canSeeProcesses)("a running server", () => {
  const server = new TestServer();
  const directory = temporaryDirectory();
  /** The worker, from the first recording on until the power failure. */
  const stopped = new DisposableStack();
  let client: TestClient;
  let long = "";
  let first = "";
  let second = "";
  /** Transcripts by the first of two imported models. */
  const expected = { long: "", jfk: "" };

  const json = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await server.cli("models", ...args, "--json");
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };
  const refusal = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await server.cli("models", ...args);
    expect([exitCode, stdout]).toEqual([1, ""]);
    return stderr;
  };
  const textOf = async (id: string) => {
    expect(await client.waitUntilEnded(id, 50)).toMatchObject({ status: "completed" });
    return (await client.segments(id)).map(({ text }) => text).join(" ");
  };
  const modelOf = async (id: string) => {
    const { stdout } = await server.cli("recordings", "show", id, "--json");
    return JSON.parse(stdout).model;
  };

  beforeAll(async () => {
    long = await makeRecordingOfChunks(directory.path, chunks);
    writeTinyRecognizer(directory.path);
    writeTinyRecognizer(directory.path, { name: "parakeet-other.bin", seed: 2 });
    await server.start();
    client = server.client("acme");
  }, startTimeout);
  afterAll(async () => {
    stopped.dispose();
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test(
    "uses an imported model at once, but only for new recordings",
    server.showingLog(async () => {
      for (const [id, file] of [
        ["parakeet-tiny", "parakeet-tiny.bin"],
        ["parakeet-other", "parakeet-other.bin"],
      ] as const) {
        expect(await json("import", join(directory.path, file))).toMatchObject([{ id, in_catalogue: false }]);
      }
      expect(await json("use", "parakeet-tiny")).toMatchObject({ id: "parakeet-tiny", before: "whisper-base" });
      const both = [await client.create(long, tinyLanguage), await client.create(jfk, tinyLanguage)];
      [expected.long = "", expected.jfk = ""] = await Promise.all(both.map(({ id }) => textOf(id)));
      await server.untilCleanedUp();
      const interrupted = await interrupt(server, client, long, chunks);
      stopped.use(interrupted.worker);
      first = interrupted.id;
      expect(await json("use", "parakeet-other")).toMatchObject({
        id: "parakeet-other",
        before: "parakeet-tiny",
        open_recordings_finish_with: ["parakeet-tiny"],
      });
      second = (await client.create(jfk, tinyLanguage)).id;
      expect(await refusal("remove", "parakeet-other")).toContain("is in use");
    }),
    startTimeout,
  );

  test(
    "finishes each recording with the model of its creation, also after a power failure",
    server.showingLog(async () => {
      await server.killHard();
      stopped.dispose();
      await server.start();
      client = new TestClient(server.baseUrl, client.key);
      expect(await textOf(first)).toBe(expected.long);
      expect(await textOf(second)).not.toBe(expected.jfk);
      expect([await modelOf(first), await modelOf(second)]).toEqual(["parakeet-tiny", "parakeet-other"]);
    }),
    startTimeout,
  );

  test(
    "refuses a model that cannot be loaded, and keeps the present one",
    server.showingLog(async () => {
      const cut = join(directory.path, "cut.bin");
      await Bun.write(cut, await Bun.file(basePath).slice(0, 5_000_000).arrayBuffer());
      expect(await refusal("import", cut)).toContain("is damaged or not a whisper model: 1572864 bytes are missing");
      await json("import", join(directory.path, "parakeet-other.bin"), "--name", "cut");
      truncateSync(join(server.dataDirectory, "models/installed/cut/model.bin"), 100_000);
      const message = await refusal("use", "cut");
      expect(message).toContain("cut can't be used on this machine; parakeet-other stays in use");
      expect(message).not.toMatch(/\n\s+at /);
      const inUse = (await json("list")).filter(
        (row: { kind: string; in_use: boolean }) => row.in_use && row.kind === "speech",
      );
      expect(inUse).toMatchObject([{ id: "parakeet-other", state: "installed" }]);
    }),
    startTimeout,
  );

  test(
    "returns to the built-in model, and removes a model that no recording needs",
    server.showingLog(async () => {
      await json("use", "whisper-base");
      const third = (await client.create(jfk, tinyLanguage)).id;
      expect(await textOf(third)).toContain("country");
      await json("remove", "parakeet-other");
      expect(await refusal("use", "parakeet-other")).toContain("there is no model parakeet-other");
      expect(await refusal("remove", "whisper-base")).toContain("is part of the program and can't be removed");
    }),
    startTimeout,
  );
});
