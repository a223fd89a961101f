import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../../harness/client.ts";
import { TestServer } from "../../harness/server.ts";
import { applyRetention, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory, openDatabase } from "../../src/storage/index.ts";
import { beforeStop, residentBytesOf } from "../shared/processes.ts";
import { type FilledDatabase, fillDatabase } from "./fill-rows.ts";
import { median, medianTime } from "./table.ts";

/** Measurements with their units. */
export const measured = {
  list: "list, first page, ms",
  listDeep: "list, page at nine tenths, ms",
  listRare: "list by a status of one in a hundred, page at nine tenths, ms",
  listStates: "list by two statuses, ms",
  listTime: "list of the older half, ms",
  listWorkspace: "list of a workspace that has one in a thousand, ms",
  get: "get, ms",
  segments: "segments, ms",
  create: "create by link, ms",
  delete: "delete with ten segments, ms",
  metrics: "/metrics, ms",
  listening: "start until the server listens, ms",
  resident: "resident memory of the server, MiB",
  retention: "retention with nothing to remove, ms",
  retentionEach: "retention, each removed recording, ms",
  backup: "backup of the database, s",
  database: "size of the database, MiB",
} as const;
export type RowFigures = Record<keyof typeof measured, number>;

const mib = 1024 ** 2;
const starts = 3;
const reads = 200;
const writes = 30;
const day = 86_400_000;
/** Days whose recordings retention removes. */
const removedDays = 2;

/** Fills a database with `count` recordings and measures a server on it. */
export async function measureRows(count: number, report: (text: string) => void): Promise<RowFigures> {
  await using server = new TestServer({
    TRANSCRIBE_LOG_LEVEL: "error",
    // No link leads anywhere: created recordings fail in the background, one after another.
    TRANSCRIBE_QUEUE_SLOTS: "1",
    TRANSCRIBE_LIMITS_RECORDINGS_PER_ACCOUNT: "100000",
  });
  using _stop = beforeStop(() => server[Symbol.asyncDispose]());
  mkdirSync(server.dataDirectory, { recursive: true });
  const databasePath = join(server.dataDirectory, "transcribe.db");
  report("filling the database");
  const filled = fillDatabase(databasePath, count, Date.now());
  const database = statSync(databasePath).size / mib;
  report("starting the server");
  const listening: number[] = [];
  for (let start = 0; start < starts; start++) {
    if (start > 0) await server.stop();
    const startedAt = performance.now();
    await server.start(false);
    listening.push(performance.now() - startedAt);
  }
  await server.until(async () => (await fetch(`${server.origin}/readyz`)).ok);
  report("sending requests");
  const asked = await ask(server, filled);
  const resident = residentBytesOf(server.pid) / mib;
  report("copying the database");
  const backup = await medianTime(1, (time) =>
    server.cli("backup", "--database-only", join(server.dataDirectory, `copy-${time}.db`)),
  );
  await server.stop();
  report("removing old recordings");
  const retention = await retain(server.dataDirectory);
  return { ...asked, listening: median(listening), resident, ...retention, backup: backup / 1000, database };
}

async function ask(server: TestServer, { secret, pinnedSecret, ids, middle }: FilledDatabase) {
  const client = new TestClient(server.baseUrl, secret);
  const pinned = new TestClient(server.baseUrl, pinnedSecret);
  const cursor = Buffer.from(`r${ids[Math.floor(ids.length / 10)]}`).toString("base64url");
  const list = (query: string, by = client) => medianTime(reads, () => read(by, `/transcriptions?limit=20${query}`));
  const anyId = (index: number) => ids[(index * 37) % ids.length] ?? "";
  const remove = ids.toReversed();
  return {
    list: await list(""),
    listDeep: await list(`&cursor=${cursor}`),
    listRare: await list(`&status=failed&cursor=${cursor}`),
    listStates: await list("&status=failed,queued"),
    listTime: await list(`&created_before=${new Date(middle).toISOString()}`),
    listWorkspace: await list("", pinned),
    get: await medianTime(reads, (index) => read(client, `/transcriptions/${anyId(index)}`)),
    segments: await medianTime(reads, (index) => read(client, `/transcriptions/${anyId(index)}/segments`)),
    metrics: await medianTime(writes, async () => (await fetch(`${server.origin}/metrics`)).text()),
    create: await medianTime(writes, () => create(client)),
    delete: await medianTime(writes, (index) => read(client, `/transcriptions/${remove[index]}`, { method: "DELETE" })),
  };
}

async function create(client: TestClient): Promise<void> {
  const body = new FormData();
  body.set("url", "https://recordings.example.invalid/talk.mp3");
  await read(client, "/transcriptions", { method: "POST", body });
}

async function read(client: TestClient, path: string, init: RequestInit = {}): Promise<void> {
  const answer = await client.fetch(path, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text}`);
}

/** Measures one tick of retention that removes nothing, and one that removes the oldest days. */
async function retain(root: string): Promise<Pick<RowFigures, "retention" | "retentionEach">> {
  const store = openDatabase(join(root, "transcribe.db"));
  try {
    const recordings = new Recordings(store, Date.now);
    const directory = new DataDirectory(root);
    const now = Date.now();
    const tick = (days: number) => applyRetention(recordings, directory, { audioDays: 7, completedDays: days }, now);
    const retention = await medianTime(writes, () => tick(10_000));
    const oldest = store.$client
      .query<{ at: number; all: number }, []>("SELECT min(created_at) AS at FROM recordings")
      .get();
    const days = Math.floor((now - (oldest?.at ?? now)) / day) - removedDays;
    const count = () => store.$client.query<{ n: number }, []>("SELECT count(*) AS n FROM recordings").get()?.n ?? 0;
    const before = count();
    const startedAt = performance.now();
    await tick(days);
    const taken = performance.now() - startedAt;
    return { retention, retentionEach: taken / Math.max(1, before - count()) };
  } finally {
    store.$client.close();
  }
}
