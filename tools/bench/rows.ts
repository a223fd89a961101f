import { statSync } from "node:fs";
import { join } from "node:path";
import { TestClient } from "../../harness/client.ts";
import type { TestServer } from "../../harness/server.ts";
import { openDatabase } from "../../src/database/index.ts";
import { applyRetention } from "../../src/library/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { defineCommand } from "../shared/command.ts";
import { MIB, median, medianTime, timed } from "../shared/figures.ts";
import { wholes } from "../shared/options.ts";
import { residentBytesOf } from "../shared/processes.ts";
import { report, reportOptions, type Table } from "../shared/table.ts";
import { type FilledDatabase, filledServer } from "./fill-rows.ts";

const measured = {
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
type Figures = Record<keyof typeof measured, number>;
/** Measurements without decimals. */
const WHOLE: readonly string[] = ["resident", "database", "listening"];

const STARTS = 3;
const READS = 200;
const WRITES = 30;
const DAY = 86_400_000;
/** Days whose recordings retention removes. */
const REMOVED_DAYS = 2;

export const command = defineCommand({
  name: "scripts/bench rows",
  about:
    "Measures whether a server responds as fast with a million recordings in its database as with a thousand. A million " +
    "takes a minute to create and temporarily a gigabyte of disk space.",
  options: {
    rows: wholes("number of recordings", { least: 100, fallback: [1_000, 100_000, 1_000_000] }),
    ...reportOptions,
  },
  async run({ rows, ...values }) {
    const figures: { readonly count: number; readonly figures: Figures }[] = [];
    for (const count of rows) {
      const progress = (text: string) => console.error(`${count.toLocaleString("en")} recordings: ${text}`);
      figures.push({ count, figures: await measure(count, progress) });
    }
    const table: Table = {
      head: ["recordings", ...figures.map(({ count }) => count.toLocaleString("en"))],
      lines: (Object.keys(measured) as (keyof Figures)[]).map((name) => {
        const cells = figures.map(({ figures: own }) => own[name].toFixed(WHOLE.includes(name) ? 0 : 1));
        return [measured[name], ...cells];
      }),
    };
    await report({ terms: ["medians"], sections: [table], figures: { figures } }, values, "scripts/bench rows");
  },
});

async function measure(count: number, progress: (text: string) => void): Promise<Figures> {
  progress("filling the database");
  await using stack = new AsyncDisposableStack();
  const { server, filled, databasePath } = filledServer(count, stack);
  const database = statSync(databasePath).size / MIB;
  progress("starting the server");
  const listening: number[] = [];
  for (let start = 0; start < STARTS; start++) {
    if (start > 0) await server.stop();
    listening.push(1000 * (await timed(() => server.start(false))).seconds);
  }
  await server.untilReady();
  progress("sending requests");
  const asked = await ask(server, filled);
  const resident = residentBytesOf(server.pid) / MIB;
  progress("copying the database");
  const backup = await medianTime(1, (time) =>
    server.cli("backup", "--database-only", join(server.dataDirectory, `copy-${time}.db`)),
  );
  await server.stop();
  progress("removing old recordings");
  const retention = await retain(server.dataDirectory);
  return { ...asked, listening: median(listening), resident, ...retention, backup: backup / 1000, database };
}

async function ask(server: TestServer, { secret, pinnedSecret, ids, middle }: FilledDatabase) {
  /** Sends a request that must be answered with success. */
  const send = async (path: string, init: RequestInit = {}, key = secret) => {
    const answer = await new TestClient(server.baseUrl, key).fetch(`/transcriptions${path}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text}`);
  };
  const list = (query: string, key?: string) => medianTime(READS, () => send(`?limit=20${query}`, {}, key));
  /** Reads recordings that lie far apart. */
  const get = (part = "") => medianTime(READS, (index) => send(`/${ids[(index * 37) % ids.length]}${part}`));
  const link = new FormData();
  link.set("url", "https://recordings.example.invalid/talk.mp3");
  const cursor = Buffer.from(`r${ids[Math.floor(ids.length / 10)]}`).toString("base64url");
  const remove = ids.toReversed();
  return {
    list: await list(""),
    listDeep: await list(`&cursor=${cursor}`),
    listRare: await list(`&status=failed&cursor=${cursor}`),
    listStates: await list("&status=failed,queued"),
    listTime: await list(`&created_before=${new Date(middle).toISOString()}`),
    listWorkspace: await list("", pinnedSecret),
    get: await get(),
    segments: await get("/segments"),
    metrics: await medianTime(WRITES, async () => (await fetch(`${server.origin}/metrics`)).text()),
    create: await medianTime(WRITES, () => send("", { method: "POST", body: link })),
    delete: await medianTime(WRITES, (index) => send(`/${remove[index]}`, { method: "DELETE" })),
  };
}

/** Measures one tick of retention that removes nothing, and one that removes the oldest days. */
async function retain(root: string): Promise<Pick<Figures, "retention" | "retentionEach">> {
  const store = openDatabase(join(root, "transcribe.db"));
  try {
    const recordings = new Recordings(store, Date.now);
    const directory = new DataDirectory(root);
    const now = Date.now();
    const tick = (days: number) =>
      applyRetention({ store, recordings, dataDirectory: directory }, { audioDays: 7, completedDays: days }, now);
    const numberOf = (what: string) =>
      store.$client.query<{ n: number }, []>(`SELECT ${what} AS n FROM recordings`).get()?.n ?? 0;
    const retention = await medianTime(WRITES, () => tick(10_000));
    const days = Math.floor((now - numberOf("min(created_at)")) / DAY) - REMOVED_DAYS;
    const before = numberOf("count(*)");
    const { seconds } = await timed(() => tick(days));
    return { retention, retentionEach: (1000 * seconds) / Math.max(1, before - numberOf("count(*)")) };
  } finally {
    store.$client.close();
  }
}
