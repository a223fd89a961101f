import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, ffmpegPath, mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { isFromSource } from "../../harness/program.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";

const jfk = samplePath("jfk.mp3");
const ready =
  available("e2e tests of a recording that crashes workers", jfk, ffmpegPath, mediaToolPath) && isFromSource;
if (!isFromSource)
  console.warn("SKIPPED: e2e tests of a recording that crashes workers; the compiled program has no fault injection");

/** Length of the recording at which the worker crashes, in samples. */
const poisonSamples = 128_000;

describe.if(ready)("a recording that crashes the worker at one chunk", () => {
  const directory = temporaryDirectory();
  const server = new TestServer({
    ...tinyRecognizer(),
    WORKER_TEST_FAULT: `transcribe:${poisonSamples}:SIGSEGV`,
  });
  const poison = join(directory.path, "poison.wav");
  let key = "";
  const client = () => new TestClient(server.baseUrl, key);
  const crashes = () => server.log.filter(({ event }) => event === "engine.worker_exited");
  const causeOf = async (id: string) =>
    JSON.parse((await server.cli("recordings", "show", id, "--json")).stdout).failure_cause;

  beforeAll(async () => {
    const cut = ["-v", "error", "-i", jfk, "-ac", "1", "-ar", "16000", "-t", String(poisonSamples / 16_000), poison];
    const child = Bun.spawn([mediaToolPath, ...cut], { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
    expect(await child.exited).toBe(0);
    await server.start();
    key = server.client("poison").key;
  }, startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test(
    "fails after three attempts, which survive a restart of the server, while other recordings complete",
    server.showingLog(async () => {
      const { id } = await client().create(poison, tinyLanguage);
      const others = [await client().create(jfk, tinyLanguage), await client().create(jfk, tinyLanguage)];
      await server.until(() => crashes().length === 1, 5);
      await server.killHard();
      await server.start();
      expect(await client().waitUntilEnded(id, 50)).toMatchObject({ status: "failed", failure_reason: "internal" });
      expect(await causeOf(id)).toBe("engine_crashed");
      for (const other of others) expect((await client().waitUntilEnded(other.id, 50)).status).toBe("completed");
      expect(crashes().map(({ signal, operations }) => ({ signal, operations }))).toEqual([
        ...[0, 1].map(() => ({ signal: "SIGSEGV", operations: expect.arrayContaining(["transcribe"]) })),
        // The last attempt runs alone.
        { signal: "SIGSEGV", operations: ["transcribe"] },
      ]);
    }),
    180_000,
  );
});
