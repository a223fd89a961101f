import { expect, test } from "bun:test";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, readAudit } from "../../src/accounts/index.ts";
import { loadSettings } from "../../src/config/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { newRecordingId, Recordings } from "../../src/recordings/index.ts";
import { StartError } from "../../src/server/start-error.ts";
import { startTranscribeServer } from "../../src/server/transcribe-server.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

test("a server that cannot start releases its resources, so that the next one can start", async () => {
  using directory = temporaryDirectory();
  using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const settings = (environment: Record<string, string>) =>
    loadSettings({ file: undefined, environment: { TRANSCRIBE_DATA_DIR: directory.path, ...environment }, flags: {} });
  const refused: Record<string, string>[] = [
    { TRANSCRIBE_PORT: String(other.port) },
    { TRANSCRIBE_ENGINE_WHISPER_MODEL: "/no/such.bin" },
    {
      TRANSCRIBE_PORT: "0",
      TRANSCRIBE_LIVE_WYOMING: `127.0.0.1:${other.port}`,
      TRANSCRIBE_LIVE_WYOMING_ACCOUNT: "home",
    },
  ];
  for (const environment of refused) {
    await expect(startTranscribeServer(settings(environment), createLogger("silent"))).rejects.toThrow(StartError);
    expect(new DataDirectory(directory.path).lock()).not.toThrow();
  }
}, 60_000);

test("audio whose retention is over is removed although an old backup cannot be removed", async () => {
  using directory = temporaryDirectory();
  const data = new DataDirectory(directory.path);
  const longAgo = Date.now() - 30 * 86_400_000;
  const store = openDatabase(data.databasePath);
  const recordings = new Recordings(store, () => longAgo);
  const { id } = createAccount(store, "acme", { actor: "operator", now: longAgo });
  const old = recordings.create(newRecording(newRecordingId(longAgo), id));
  recordings.fail(old.id, { reason: "no_speech" });
  store.$client.close();
  writeFileSync(data.localAudio.pathOf(old.id), "audio");
  const stuck = join(directory.path, "backups/left.partial");
  mkdirSync(stuck, { recursive: true });
  utimesSync(stuck, new Date(longAgo), new Date(longAgo));

  const environment = { TRANSCRIBE_DATA_DIR: directory.path, TRANSCRIBE_PORT: "0" };
  const settings = loadSettings({ file: undefined, environment, flags: {} });
  const server = await startTranscribeServer(settings, createLogger("silent"));
  try {
    while (existsSync(data.localAudio.pathOf(old.id))) await Bun.sleep(10);
    expect([existsSync(stuck), existsSync(data.localAudio.pathOf(old.id))]).toEqual([true, false]);
  } finally {
    await server.stop();
  }
}, 60_000);

test("old entries of the audit log are removed, but not before the log server has them", async () => {
  using receiver = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data() {}, open: (socket) => void socket.end() },
  });
  const actionsWith = async (syslog: string) => {
    using directory = temporaryDirectory();
    const store = openDatabase(new DataDirectory(directory.path).databasePath);
    createAccount(store, "acme", { actor: "operator", now: Date.now() - 30 * 86_400_000 });
    store.$client.close();
    const environment = {
      ...{ TRANSCRIBE_DATA_DIR: directory.path, TRANSCRIBE_PORT: "0" },
      ...{ TRANSCRIBE_AUDIT_RETENTION_DAYS: "10", TRANSCRIBE_AUDIT_SYSLOG: syslog },
    };
    const settings = loadSettings({ file: undefined, environment, flags: {} });
    const server = await startTranscribeServer(settings, createLogger("silent"));
    await server.stop();
    const after = openDatabase(new DataDirectory(directory.path).databasePath);
    const actions = readAudit(after, 10).map(({ action }) => action);
    after.$client.close();
    return actions;
  };
  expect(await actionsWith("")).toEqual(["audit_log.trim"]);
  expect(await actionsWith(`127.0.0.1:${receiver.port}`)).toEqual(["accounts.create"]);
}, 60_000);
