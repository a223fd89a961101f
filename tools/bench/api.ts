/**
 * Measures how fast the API responds with 10,000 recordings in the database: `scripts/bench api [--json]`.
 *
 * Runs the real HTTP server in this process without an engine: recordings are only stored, listed and read. A create
 * starts a probe, which is a process of its own (ffmpeg) and is reported separately.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccount, createKey, KeyUsage, Usage } from "../../src/accounts/index.ts";
import { loadSettings } from "../../src/config/index.ts";
import { createApp, ExportAnswers, parseNetworks, startServer, TranscriptionCreator } from "../../src/http/index.ts";
import { probeRecording } from "../../src/media/index.ts";
import { programFiles } from "../../src/program/index.ts";
import { RecordingEvents, Recordings } from "../../src/recordings/index.ts";
import { createMetrics } from "../../src/server/index.ts";
import { DataDirectory, DiskSpace, DiskUsage, openDatabase } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { medianTime } from "./table.ts";

const recordingCount = 10_000;
const tries = 300;
const creates = 40;

const root = mkdtempSync(join(tmpdir(), "transcribe-bench-"));
const dataDirectory = new DataDirectory(join(root, "data"));
const store = openDatabase(dataDirectory.databasePath);
const recordings = new Recordings(store, Date.now);
const by = { actor: "bench", now: Date.now() };
const account = createAccount(store, "bench", by);
const { secret } = createKey(store, account, { name: "bench" }, by);

/** Returns an eighth of a second of silence as a WAV file of about 1 KB (8 kHz, 8 bit). */
function smallRecording(): Uint8Array {
  const samples = 1000;
  const bytes = Buffer.alloc(44 + samples, 128);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + samples, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE(8000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(samples, 40);
  return bytes;
}

function fill(): string[] {
  const ids: string[] = [];
  store.transaction(() => {
    for (let index = 0; index < recordingCount; index++) {
      const id = Bun.randomUUIDv7();
      recordings.create({
        id,
        accountId: account.id,
        workspaceId: null,
        pinnedLanguage: null,
        speechModel: "whisper-base",
        sourceName: `recording ${index}`,
        sourceUrl: null,
        sizeBytes: 1000,
      });
      recordings.claim(id);
      const segment = { index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text: "Hello.", words: [] };
      recordings.complete(id, [segment]);
      ids.push(id);
    }
  });
  return ids;
}

const { ffmpeg } = await programFiles(join(root, "runtime"));
const ids = fill();
const unlimited = {
  creates_per_hour: 1e6,
  creates_per_day: 1e6,
  requests_per_minute: 1e6,
  recordings_per_account: 1e5,
};
const settings = loadSettings({ file: undefined, environment: {}, flags: {} });
const limits = { ...settings.limits, ...unlimited };
const usage = new Usage(store);
const common = { recordings, dataDirectory, limits: () => limits, now: Date.now };
const metrics = createMetrics({
  ...{ recordings, disk: new DiskUsage(dataDirectory, () => performance.now()), now: Date.now },
  engine: () => ({
    status: () => ({ state: "ready", trouble: null, busy: false, restarts: 0, workers: [] }),
  }),
  modelInUse: () => "whisper-base",
  certificateEndsAt: () => null,
  stalled: () => [],
});
const diskSpace = new DiskSpace(dataDirectory.root, () => 0);
const creator = new TranscriptionCreator({
  ...common,
  store,
  metrics,
  diskSpace,
  usage,
  queue: { add: () => {} },
  speechModel: () => ({ id: "whisper-base", languages: [] }),
  probe: (path) => probeRecording(ffmpeg, path),
  fetchEnabled: () => false,
  checkUrl: () => ({ ok: false, kind: "invalid", reason: "" }),
  refusal: () => null,
});
const log = createLogger("silent");
const lastUse = new KeyUsage(store);
const app = createApp({
  ...{ ...common, store, creator, lastUse, log, metrics },
  exports: new ExportAnswers({ ...common, store, diskSpace }),
  ...{ usage, events: new RecordingEvents(log), queue: { followCommands: () => {} } },
  compat: () => settings.compat,
  asrNetworks: () => parseNetworks([]),
  models: { current: () => ({ id: "whisper-base", languages: [] }), installed: () => [], find: () => null },
  stopping: new AbortController().signal,
  languages: () => [],
  metricsRemote: () => false,
  attributions: () => [],
  readiness: () => null,
  secure: false,
});
const proxies = parseNetworks([]);
const server = startServer({
  app,
  host: "127.0.0.1",
  port: 0,
  proxies: () => proxies,
  hosts: () => new Set(),
  credentials: null,
  log,
  metrics,
  now: Date.now,
});

async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const url = `http://127.0.0.1:${server.port}/api/public/v1/transcriptions${path}`;
  const response = await fetch(url, { ...init, headers: { authorization: `Bearer ${secret}` } });
  const body = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${body}`);
  return response;
}

const small = join(root, "small.wav");
await Bun.write(small, smallRecording());
const form = () => {
  const body = new FormData();
  body.set("file", Bun.file(small), "small.wav");
  return body;
};

const probe = await medianTime(creates, () => probeRecording(ffmpeg, small));
const create = await medianTime(creates, () => request("", { method: "POST", body: form() }));
const results = {
  get_one_ms: await medianTime(tries, (index) => request(`/${ids[(index * 37) % ids.length]}`)),
  list_first_page_ms: await medianTime(tries, () => request("?limit=20")),
  list_hundred_ms: await medianTime(tries, () => request("?limit=100")),
  list_by_status_ms: await medianTime(tries, () => request("?limit=20&status=completed,failed")),
  segments_ms: await medianTime(tries, (index) => request(`/${ids[index]}/segments`)),
  probe_ms: probe,
  create_beside_probe_ms: create - probe,
};
await server.stop(true);
store.$client.close();
rmSync(root, { recursive: true, force: true });

if (process.argv.includes("--json")) {
  process.stdout.write(`${JSON.stringify({ recordings: recordingCount, ...results }, null, 2)}\n`);
} else {
  process.stdout.write(`medians with ${recordingCount} recordings in the database\n`);
  for (const [name, value] of Object.entries(results)) process.stdout.write(`${name.padEnd(26)}${value.toFixed(2)}\n`);
}
