import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { metricsOf } from "../../harness/measured-server.ts";
import type { TestServer } from "../../harness/server.ts";
import { timed } from "../shared/figures.ts";
import { peakBytesOf, resetPeak } from "../shared/processes.ts";

/** Pause between two GET requests of each of the two clients. */
const REQUEST_MILLISECONDS = 50;
const METRICS_MILLISECONDS = 1000;

/** Watches a coordinator from outside: its metrics, its database, and the response times of clients that poll a recording. */
export function watchCoordinator(server: TestServer, client: TestClient, id: string) {
  const startedAt = performance.now();
  const transactionsBefore = transactionsOf(server);
  resetPeak(server.pid);
  const metricsBefore = metricsOf(server);
  const delaysSeconds: number[] = [];
  const responsesSeconds: number[] = [];
  let stops = false;
  const repeat = async (everyMilliseconds: number, once: () => Promise<unknown>) => {
    for (; !stops; await Bun.sleep(everyMilliseconds)) await once();
  };
  const request = async (path: string) => {
    const { seconds } = await timed(async () => {
      const response = await client.fetch(path);
      await response.text();
      if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
    });
    responsesSeconds.push(seconds);
  };
  const loops = [
    repeat(REQUEST_MILLISECONDS, () => request("/transcriptions?limit=20")),
    repeat(REQUEST_MILLISECONDS, () => request(`/transcriptions/${id}`)),
    repeat(METRICS_MILLISECONDS, async () => {
      delaysSeconds.push((await metricsOf(server)).get("transcribe_event_loop_delay_seconds") ?? 0);
    }),
  ];
  return {
    async stop() {
      stops = true;
      const seconds = (performance.now() - startedAt) / 1000;
      const after = await metricsOf(server);
      await Promise.all(loops);
      const before = await metricsBefore;
      const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
      return {
        seconds,
        cpuSeconds: grown("process_cpu_seconds_total"),
        peakBytes: peakBytesOf(server.pid),
        /** Committed transactions of the database. */
        transactions: transactionsOf(server) - transactionsBefore,
        sentBytes: grown("transcribe_fleet_sent_bytes_total"),
        receivedBytes: grown("transcribe_fleet_received_bytes_total"),
        /** The longest delay of the event loop in each second. The first value covers the time before. */
        delaysSeconds: delaysSeconds.slice(1),
        /** Response times of GET requests, half of them lists and half of them single recordings. */
        responsesSeconds,
      };
    },
  };
}

/**
 * Returns the number of transactions that were committed to the server's database: the field iChange in the index of
 * its write-ahead log (SQLite, "WAL-mode File Format", section 2.1).
 */
function transactionsOf({ dataDirectory }: TestServer): number {
  const file = openSync(join(dataDirectory, "transcribe.db-shm"), "r");
  try {
    const header = new Uint32Array(3);
    readSync(file, header);
    return header[2] ?? 0;
  } finally {
    closeSync(file);
  }
}
