import { Database } from "bun:sqlite";
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { TestClient } from "../../../harness/client.ts";
import { metricsOf } from "../../../harness/measured-server.ts";
import type { TestServer } from "../../../harness/server.ts";
import { openDatabase } from "../../../src/database/index.ts";
import { timed, total } from "../../shared/figures.ts";
import { cpuSecondsOf } from "../../shared/processes.ts";
import { type Coordinator, ScriptedWorkers } from "../fleet-load.ts";

/** Recordings of a load: their lengths in minutes, and the file of each length. */
export interface CapacityLoad {
  readonly minutes: readonly number[];
  readonly fileOf: (minutes: number) => string;
}

/** What a load took, in sums. */
export interface Totals {
  readonly recordings: number;
  readonly hours: number;
  /** From the first request to the completion of the last recording. */
  readonly seconds: number;
  /** Share of the machine's cores that any program used meanwhile. */
  readonly busyShare: number;
  /** CPU seconds of the server's main thread, of its other threads, and of its children: ffmpeg and others. */
  readonly mainSeconds: number;
  readonly threadSeconds: number;
  readonly childSeconds: number;
  readonly brokerSeconds: number;
  readonly workerSeconds: number;
  readonly parts: number;
  readonly brokerMessages: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Commits, most of which are synced in the background. */
  readonly transactions: number;
  /** Pages that were appended to the write-ahead log. */
  readonly pages: number;
  /** Growth of the database. */
  readonly databaseBytes: number;
}

/** Workers answer at once; two of them, so that both cores have work. */
const WORKERS = 2;
const AT_ONCE = 1e9;
const SAMPLE_MILLISECONDS = 10;
export const UPLOADS_AT_ONCE = 4;

/**
 * Runs a load on a coordinator whose workers answer at once.
 * @param monitor address of the broker's own figures
 */
export async function measureTotals(
  load: CapacityLoad,
  { coordinator, client, monitor }: { coordinator: Coordinator; client: TestClient; monitor: string },
): Promise<Totals & { readonly ids: readonly string[] }> {
  const { server, broker } = coordinator;
  await using workers = new ScriptedWorkers(WORKERS, AT_ONCE, coordinator);
  await server.until(async () => (await metricsOf(server)).get("transcribe_fleet_worker_lanes") === WORKERS);
  await server.untilReady();
  // Starting costs of the workers do not count.
  await Bun.sleep(1000);
  const figures = async () => {
    const metrics = await metricsOf(server);
    const own = metrics.get("process_cpu_seconds_total") ?? 0;
    const main = mainSecondsOf(server.pid);
    return {
      ...{ mainSeconds: main, threadSeconds: own - main, childSeconds: cpuSecondsOf(server.pid) - own },
      ...{ brokerSeconds: cpuSecondsOf(broker.pid), workerSeconds: workers.cpuSeconds },
      parts: partsOf(server),
      brokerMessages: await messagesOf(monitor),
      sentBytes: metrics.get("transcribe_fleet_sent_bytes_total") ?? 0,
      receivedBytes: metrics.get("transcribe_fleet_received_bytes_total") ?? 0,
      transactions: walIndexOf(server).transactions,
      databaseBytes: statSync(join(server.dataDirectory, "transcribe.db")).size,
    };
  };
  const before = await figures();
  const log = watchLog(server);
  const busyBefore = busySeconds();
  const { seconds, result: ids } = await timed(() => sendAll(load, client));
  const busyShare = (busySeconds() - busyBefore) / availableParallelism() / seconds;
  const pages = await log.stop();
  // Children that have just ended, and figures that are written a moment later.
  await Bun.sleep(1500);
  const after = await figures();
  const grown = Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name as keyof typeof before]]),
  ) as typeof before;
  return {
    recordings: load.minutes.length,
    hours: total(load.minutes, Number) / 60,
    seconds,
    busyShare,
    ids,
    pages,
    ...grown,
  };
}

/** Returns the shares of this machine's cores that a load used, and that other programs used meanwhile. */
export function sharesOf(load: Totals): { own: number; others: number } {
  const { mainSeconds, threadSeconds, childSeconds, brokerSeconds, workerSeconds, seconds, busyShare } = load;
  const used = mainSeconds + threadSeconds + childSeconds + brokerSeconds + workerSeconds;
  const own = used / seconds / availableParallelism();
  return { own, others: Math.max(0, busyShare - own) };
}

/** Sends the recordings in their order, a few at a time, and waits for all of them. */
async function sendAll({ minutes, fileOf }: CapacityLoad, client: TestClient): Promise<string[]> {
  const ids: string[] = [];
  const waiting = [...minutes];
  const send = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      ids.push((await client.create(fileOf(next))).id);
    }
  };
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, send));
  for (const id of ids) {
    const { status } = await client.waitUntilEnded(id, 250);
    if (status !== "completed") throw new Error("a recording failed");
  }
  return ids;
}

/**
 * Runs a load, and counts how often the server's main thread waits for the disk. Most commits don't: what can be computed again is synced in the
 * background. The count is a run of its own, because strace slows the server.
 */
export async function measureSyncs(
  load: CapacityLoad,
  { coordinator, client }: { coordinator: Coordinator; client: TestClient },
) {
  const { server } = coordinator;
  await using _workers = new ScriptedWorkers(WORKERS, AT_ONCE, coordinator);
  await server.until(async () => (await metricsOf(server)).get("transcribe_fleet_worker_lanes") === WORKERS);
  await server.untilReady();
  const strace = Bun.spawn(["strace", "-qq", "-e", "trace=fsync,fdatasync", "-p", String(server.pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lines = strace.stderr.text();
  // Time for strace to attach.
  await Bun.sleep(1000);
  await sendAll(load, client);
  strace.kill("SIGINT");
  return ((await lines).match(/^f(data)?sync\(/gm) ?? []).length;
}

/** Costs of requests, in CPU seconds of the server. */
export interface RequestCosts {
  /** GET of a recording, as clients poll it. */
  readonly pollSeconds: number;
  /** GET of all segments of an hour of speech. */
  readonly resultSeconds: number;
  readonly pollBytes: number;
  readonly resultBytes: number;
}

/** Measures requests on a server without other work. @param id a completed recording @param hours its length */
export async function measureRequests({ server }: Coordinator, client: TestClient, id: string, hours: number) {
  const each = async (times: number, path: string) => {
    const before = (await metricsOf(server)).get("process_cpu_seconds_total") ?? 0;
    let bytes = 0;
    for (let count = 0; count < times; count++) bytes = (await (await client.fetch(path)).arrayBuffer()).byteLength;
    const seconds = ((await metricsOf(server)).get("process_cpu_seconds_total") ?? 0) - before;
    return { seconds: seconds / times, bytes };
  };
  const poll = await each(3000, `/transcriptions/${id}`);
  const result = await each(100, `/transcriptions/${id}/segments?limit=1000`);
  return {
    ...{ pollSeconds: poll.seconds, pollBytes: poll.bytes },
    ...{ resultSeconds: result.seconds / hours, resultBytes: result.bytes / hours },
  } satisfies RequestCosts;
}

/**
 * Measures a commit with as many pages as the server's have on average, on the disk of a folder.
 * @returns its CPU seconds, and the seconds for which it also keeps its thread waiting
 */
export function measureCommit(folder: string, pages: number): { cpuSeconds: number; waitSeconds: number } {
  const { $client: client } = openDatabase(join(folder, "commits.db"));
  try {
    client.run("CREATE TABLE costs (id INTEGER PRIMARY KEY, content BLOB)");
    const rows = Math.max(1, Math.round(pages));
    const write = client.transaction((round: number) => {
      // A row fills a page.
      for (let row = 0; row < rows; row++)
        client.run("INSERT OR REPLACE INTO costs VALUES (?, ?)", [row * 50, new Uint8Array(3000).fill(round)]);
    });
    for (let round = 0; round < 50; round++) write(round);
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    const rounds = 500;
    for (let round = 0; round < rounds; round++) write(round);
    const { user, system } = process.cpuUsage(cpu);
    const cpuSeconds = (user + system) / 1e6 / rounds;
    return { cpuSeconds, waitSeconds: Math.max(0, (performance.now() - startedAt) / 1000 / rounds - cpuSeconds) };
  } finally {
    client.close();
  }
}

/** Seconds in which the cores of the machine computed or were taken by other virtual machines, over all cores. */
function busySeconds(): number {
  const [, ...ticks] = /^cpu .*/.exec(readFileSync("/proc/stat", "utf8"))?.[0].split(/ +/).map(Number) ?? [];
  // user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5))
  return total([0, 1, 2, 5, 6, 7], (field) => ticks[field] ?? 0) / 100;
}

/** CPU seconds of a process's main thread. */
function mainSecondsOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Parts that workers have computed, over all recordings. */
function partsOf({ dataDirectory }: TestServer): number {
  const database = new Database(join(dataDirectory, "transcribe.db"), { readonly: true });
  try {
    return (
      database.query<{ n: number }, []>("SELECT coalesce(sum(parts), 0) AS n FROM recording_machines").get()?.n ?? 0
    );
  } finally {
    database.close();
  }
}

/** Messages that the broker has received and sent. */
async function messagesOf(monitor: string): Promise<number> {
  const { in_msgs, out_msgs } = (await (await fetch(`${monitor}/varz`)).json()) as {
    in_msgs: number;
    out_msgs: number;
  };
  return in_msgs + out_msgs;
}

/**
 * Reads the index of the server's write-ahead log: the number of committed transactions, and of pages in the log
 * (SQLite, "WAL-mode File Format", section 2.1: iChange and mxFrame).
 */
function walIndexOf({ dataDirectory }: TestServer) {
  const file = openSync(join(dataDirectory, "transcribe.db-shm"), "r");
  try {
    const header = new Uint32Array(5);
    readSync(file, header);
    return { transactions: header[2] ?? 0, frames: header[4] ?? 0 };
  } finally {
    closeSync(file);
  }
}

/** Adds up the pages that are appended to the write-ahead log, which begins anew after a checkpoint. */
function watchLog(server: TestServer) {
  let pages = 0;
  let last = walIndexOf(server).frames;
  const sample = () => {
    const { frames } = walIndexOf(server);
    pages += frames >= last ? frames - last : frames;
    last = frames;
  };
  const timer = setInterval(sample, SAMPLE_MILLISECONDS);
  return {
    async stop(): Promise<number> {
      clearInterval(timer);
      sample();
      return pages;
    },
  };
}
