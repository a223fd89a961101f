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

/** Watches a coordinator from outside: its metrics, its database, and the response times of clients that poll. */
export class CoordinatorWatch {
  readonly #server: TestServer;
  readonly #startedAt = performance.now();
  readonly #transactionsBefore: number;
  readonly #before: Promise<Map<string, number>>;
  readonly #delays: number[] = [];
  readonly #responses: number[] = [];
  readonly #loops: Promise<void>[];
  #stops = false;

  constructor(server: TestServer, client: TestClient, id: string) {
    this.#server = server;
    this.#transactionsBefore = transactionsOf(server);
    resetPeak(server.pid);
    this.#before = metricsOf(server);
    const request = async (path: string) => {
      const { seconds } = await timed(async () => {
        const response = await client.fetch(path);
        await response.text();
        if (!response.ok) throw new Error(`${path} was answered ${response.status}`);
      });
      this.#responses.push(seconds);
    };
    this.#loops = [
      this.#repeat(REQUEST_MILLISECONDS, () => request("/transcriptions?limit=20")),
      this.#repeat(REQUEST_MILLISECONDS, () => request(`/transcriptions/${id}`)),
      this.#repeat(METRICS_MILLISECONDS, async () => {
        this.#delays.push((await metricsOf(server)).get("transcribe_event_loop_delay_seconds") ?? 0);
      }),
    ];
  }

  async stop() {
    this.#stops = true;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const after = await metricsOf(this.#server);
    await Promise.all(this.#loops);
    const before = await this.#before;
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    return {
      seconds,
      cpuSeconds: grown("process_cpu_seconds_total"),
      peakBytes: peakBytesOf(this.#server.pid),
      /** Committed transactions of the database. */
      transactions: transactionsOf(this.#server) - this.#transactionsBefore,
      sentBytes: grown("transcribe_fleet_sent_bytes_total"),
      receivedBytes: grown("transcribe_fleet_received_bytes_total"),
      /** The longest delay of the event loop in each second. The first value covers the time before. */
      delaysSeconds: this.#delays.slice(1),
      /** Response times of GET requests, half of them lists and half of them single recordings. */
      responsesSeconds: this.#responses,
    };
  }

  async #repeat(everyMilliseconds: number, once: () => Promise<void>): Promise<void> {
    while (!this.#stops) {
      await once();
      await Bun.sleep(everyMilliseconds);
    }
  }
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
