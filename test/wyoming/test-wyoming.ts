import pino from "pino";
import { createAccount } from "../../src/accounts/index.ts";
import { parseNetworks } from "../../src/addresses/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { createMetrics } from "../../src/server/index.ts";
import { type OfferedModel, type WyomingOptions, WyomingServer } from "../../src/wyoming/index.ts";
import { SpokenSessions } from "./spoken-sessions.ts";
import { WyomingClient } from "./wyoming-client.ts";

/** A server for Wyoming with scripted sessions and the account `home`. */
export class TestWyoming implements AsyncDisposable {
  readonly live = new SpokenSessions();
  readonly store = openDatabase(":memory:");
  readonly metrics = createMetrics(null);
  readonly log: Record<string, unknown>[] = [];
  /** The settings, which a test may replace. */
  networks = ["127.0.0.0/8"];
  account = "home";
  model: OfferedModel = {
    id: "whisper-base",
    languages: ["de", "en", "yue", "zh"],
    title: "Whisper base",
    homepage: "https://example.org/whisper",
  };
  /** The clock of limits and of the log. A test may replace it. */
  clock: () => number = () => performance.now();
  readonly #server: WyomingServer;
  #address = "";

  private constructor(times: WyomingOptions["times"]) {
    createAccount(this.store, "home", { actor: "test", now: Date.now() });
    this.#server = new WyomingServer({
      live: this.live,
      store: this.store,
      account: () => this.account,
      model: () => this.model,
      networks: () => parseNetworks(this.networks),
      metrics: this.metrics.wyoming,
      log: pino({ base: null }, { write: (line) => void this.log.push(JSON.parse(line)) }),
      now: Date.now,
      clock: () => this.clock(),
      isPaused: () => false,
      ...(times === undefined ? {} : { times }),
    });
  }

  static async start(times?: WyomingOptions["times"]): Promise<TestWyoming> {
    const wyoming = new TestWyoming(times);
    wyoming.#address = await wyoming.#server.listen({ host: "127.0.0.1", port: 0 });
    return wyoming;
  }

  /** `127.0.0.1:PORT` */
  get address(): string {
    return this.#address;
  }

  connect(...options: [localAddress?: string, allowHalfOpen?: boolean]): Promise<WyomingClient> {
    return WyomingClient.connect(this.#address, ...options);
  }

  /** Returns the value of a series, e.g. `transcribe_wyoming_connections`. */
  async metric(series: string): Promise<number> {
    const lines = (await this.metrics.read()).split("\n");
    const line = lines.find((each) => each.startsWith(`${series} `));
    if (line === undefined) throw new Error(`there is no series ${series}`);
    return Number(line.slice(series.length + 1));
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    this.store.$client.close();
  }
}
