import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { available, samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { makeLongRecording, sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { basePath } from "../speech/recognizer/whisper/support.ts";
import { copyAlteredModel } from "../support/altered-model.ts";

const ready = available("e2e tests of switching models", ...sampleRecordingNeeds, basePath);

describe.if(ready)("a running server", () => {
  const server = new TestServer();
  const directory = temporaryDirectory();
  let client: TestClient;
  let long = "";
  let first = "";
  let second = "";

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
  const chunksStored = () => {
    using database = new Database(join(server.dataDirectory, "transcribe.db"));
    return database.query("SELECT part FROM checkpoints WHERE step = 'transcribe'").all().length;
  };
  const textOf = async (id: string) => {
    expect(await client.waitUntilEnded(id)).toMatchObject({ status: "completed" });
    return (await client.segments(id)).map(({ text }) => text).join(" ");
  };
  const modelOf = async (id: string) => {
    const { stdout } = await server.cli("recordings", "show", id, "--json");
    return JSON.parse(stdout).model;
  };

  beforeAll(async () => {
    long = await makeLongRecording(directory.path);
    copyAlteredModel(basePath, join(directory.path, "ggml-loud.bin"), "country");
    await server.start();
    client = server.client("acme");
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test(
    "uses an imported model at once, but only for new recordings",
    server.showingLog(async () => {
      expect(await json("import", join(directory.path, "ggml-loud.bin"))).toMatchObject([
        { id: "whisper-loud", in_catalogue: false },
      ]);
      first = (await client.create(long, { language: "en" })).id;
      // These share the engine with the first recording, so that it does not finish before the other model is selected.
      const others = [await client.create(long, { language: "en" }), await client.create(long, { language: "en" })];
      await server.until(() => chunksStored() >= 1);
      expect(await json("use", "whisper-loud")).toMatchObject({
        id: "whisper-loud",
        before: "whisper-base",
        open_recordings_finish_with: ["whisper-base"],
      });
      second = (await client.create(samplePath("jfk.mp3"), { language: "en" })).id;
      expect(await refusal("remove", "whisper-loud")).toContain("is in use");
      for (const { id } of others) await server.cli("recordings", "cancel", id);
    }),
    startTimeout,
  );

  test(
    "finishes each recording with the model of its creation, also after a power failure",
    server.showingLog(async () => {
      await server.killHard();
      await server.start();
      client = new TestClient(server.baseUrl, client.key);
      const texts = { first: await textOf(first), second: await textOf(second) };
      expect(texts.second).toContain("COUNTRY");
      expect(texts.second).not.toContain("country");
      expect(texts.first).toContain("country");
      expect(texts.first).not.toContain("COUNTRY");
      expect([await modelOf(first), await modelOf(second)]).toEqual(["whisper-base", "whisper-loud"]);
    }),
    startTimeout,
  );

  test(
    "refuses a model that cannot be loaded, and keeps the present one",
    server.showingLog(async () => {
      const cut = join(directory.path, "cut.bin");
      await Bun.write(cut, await Bun.file(basePath).slice(0, 5_000_000).arrayBuffer());
      expect(await refusal("import", cut)).toContain("is damaged or not a whisper model: 1572864 bytes are missing");
      await json("import", join(directory.path, "ggml-loud.bin"), "--name", "cut");
      truncateSync(join(server.dataDirectory, "models/installed/cut/model.bin"), 5_000_000);
      const message = await refusal("use", "cut");
      expect(message).toContain("cut can't be used on this machine; whisper-loud stays in use");
      expect(message).not.toMatch(/\n\s+at /);
      const inUse = (await json("list")).filter(
        (row: { kind: string; in_use: boolean }) => row.in_use && row.kind === "speech",
      );
      expect(inUse).toMatchObject([{ id: "whisper-loud", state: "installed" }]);
    }),
    startTimeout,
  );

  test(
    "returns to the built-in model, and removes a model that no recording needs",
    server.showingLog(async () => {
      await json("use", "whisper-base");
      const third = (await client.create(samplePath("jfk.mp3"), { language: "en" })).id;
      expect(await textOf(third)).toContain("country");
      await json("remove", "whisper-loud");
      expect(await refusal("use", "whisper-loud")).toContain("there is no model whisper-loud");
      expect(await refusal("remove", "whisper-base")).toContain("is part of the program and can't be removed");
    }),
    startTimeout,
  );
});
