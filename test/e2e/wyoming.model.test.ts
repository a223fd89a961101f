import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { available, mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { openDatabaseOf } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { testPackages } from "../../tools/development/test-packages.ts";
import { askPython, installPythonPackages } from "../../tools/shared/python.ts";
import { CommandError } from "../../tools/shared/run-command.ts";

const jfk = samplePath("jfk.mp3");
const words = /ask not\W+what your country can do for you\W+ask what you can do for your country/i;
const packages = !available("e2e tests of Wyoming", jfk, mediaToolPath)
  ? null
  : await installPythonPackages(defaultCacheRoot(), testPackages.wyoming).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      console.warn(`SKIPPED: e2e tests of Wyoming; its client cannot be installed: ${error.message}`);
      return null;
    });

const outcomesSchema = Type.Object({
  describe: Type.Object({
    models: Type.Array(Type.Tuple([Type.String(), Type.Array(Type.String()), Type.Boolean()])),
  }),
  upload_then_read: Type.Tuple([Type.String(), Type.String()]),
  stream: Type.Object({
    types: Type.Array(Type.String()),
    chunks: Type.Integer(),
    joins: Type.Boolean(),
    text: Type.String(),
    language: Type.String(),
  }),
});

/** The tests run in order on one data directory. */
describe.if(packages !== null)("Wyoming", () => {
  const server = new TestServer({ TRANSCRIBE_LIVE_WYOMING: "127.0.0.1:0", TRANSCRIBE_LIVE_WYOMING_ACCOUNT: "home" });
  const directory = temporaryDirectory();
  beforeAll(() => server.start(), startTimeout);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  test("starts without its account, and says so", async () => {
    const [listening, noAccount] = server.log.filter(({ event }) => event.startsWith("wyoming."));
    expect(listening?.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(noAccount).toMatchObject({ event: "wyoming.no_account", account: "home" });
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
  });

  test(
    "transcribes jfk.mp3 for its own client, charges its length, and leaves nothing",
    server.showingLog(async () => {
      expect((await server.cli("accounts", "create", "home")).exitCode).toBe(0);
      const recording = join(directory.path, "jfk.wav");
      await runFfmpeg(["-i", jfk, "-ac", "1", "-ar", "16000", "-bitexact", recording]);
      const outcomes = await ask(server, recording);
      expect(outcomes.describe.models.map(([name]) => name)).toEqual(["whisper-base"]);
      expect(outcomes.describe.models[0]?.[1]).toContain("en");
      const [text, language] = outcomes.upload_then_read;
      expect(text).toMatch(words);
      expect(language).toBe("en");
      expect(outcomes.stream).toMatchObject({
        types: ["transcript-start", "transcript-chunk", "transcript", "transcript-stop"],
        joins: true,
        language: "en",
      });
      expect(outcomes.stream.text).toMatch(words);
      expect(outcomes.stream.chunks).toBeGreaterThan(1);
      await server.until(() => state(server).left.length === 0);
      expect(Math.round(state(server).chargedSeconds)).toBe(22);
      expect(JSON.stringify(server.log)).not.toMatch(/country/i);
    }),
    startTimeout,
  );
});

async function ask(server: TestServer, recording: string): Promise<Static<typeof outcomesSchema>> {
  const listening = server.log.find(({ event }) => event === "wyoming.listening");
  const [host, port] = String(listening?.address).split(":");
  const script = join(import.meta.dir, "../wyoming/wyoming-client.py");
  return await askPython(script, packages ?? "", { host, port: Number(port), recording }, outcomesSchema);
}

/** Returns what is left: rows, files and charges. */
function state(server: TestServer) {
  const directory = new DataDirectory(server.dataDirectory);
  const store = openDatabaseOf(directory);
  try {
    const accounts = store.$client.query<{ id: string }, []>("SELECT id FROM accounts").all();
    const chargedSeconds = accounts.reduce((sum, { id }) => sum + new Usage(store).audioSeconds(id, Date.now()), 0);
    const rows = store.$client.query("SELECT id FROM recordings UNION SELECT recording_id FROM checkpoints").all();
    const files = ["incoming", "uploads", "work"].flatMap((name) => readdirSync(join(directory.root, name)));
    return { chargedSeconds, left: [...rows, ...files] };
  } finally {
    store.$client.close();
  }
}
