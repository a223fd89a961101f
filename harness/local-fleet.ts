import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Broker, COORDINATOR, FleetDirectory } from "../src/fleet/index.ts";
import { createLogger } from "../src/telemetry/index.ts";
import { NatsServer } from "./nats-server.ts";
import { type Place, TestServer } from "./server.ts";
import { temporaryDirectory } from "./temporary-directory.ts";
import { TestWorker } from "./test-worker.ts";

export interface LocalFleetOptions {
  readonly program: string;
  /** Names of the first workers. A worker of a pool is called `POOL.INSTANCE`; the pools of the first workers exist. */
  readonly workers: readonly string[];
  /** Settings of all machines, except those of the fleet. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Address of this machine on which the broker listens; by default loopback. */
  readonly host?: string;
  /** Where the workers start. */
  readonly place?: Place;
}

/**
 * A fleet on this machine with mutual TLS: a real broker, a server as the coordinator, and workers with data directories
 * of their own. The server may run alone at first. Disposing of it ends all processes and removes all files.
 */
export class LocalFleet implements AsyncDisposable {
  readonly server: TestServer;
  readonly workers = new Map<string, TestWorker>();
  readonly #options: LocalFleetOptions;
  readonly #directory = temporaryDirectory();
  /** Settings of the workers. */
  readonly #environment: Readonly<Record<string, string>>;
  /** Settings of the coordinator, and of commands on its data directory. */
  readonly environment: Readonly<Record<string, string>>;
  #broker: NatsServer | null = null;

  constructor(options: LocalFleetOptions) {
    this.#options = options;
    const temporary = this.#path("tmp");
    mkdirSync(temporary);
    this.#environment = { TRANSCRIBE_ENGINE_THREADS: "1", ...options.environment, TMPDIR: temporary };
    // The settings change while the server does not run: at first it works alone.
    writeFileSync(this.#path("transcribe.toml"), "");
    this.environment = { ...this.#environment, TRANSCRIBE_CONFIG: this.#path("transcribe.toml") };
    this.server = new TestServer(this.environment);
  }

  /** The broker, after the fleet was joined. */
  get broker(): NatsServer {
    if (this.#broker === null) throw new Error("the fleet has no broker yet");
    return this.#broker;
  }

  /** Starts broker, coordinator and workers; stops a server that runs alone. Resolves when all workers are present. */
  async join(workHere: boolean): Promise<void> {
    const { program, workers, host = "127.0.0.1", place } = this.#options;
    const fleet = {
      ...{ broker: [host], port: 4222, workers: workers.filter((name) => poolOf(name) === null) },
      pools: [...new Set(workers.flatMap((name) => poolOf(name) ?? []))],
    };
    await FleetDirectory.create(this.#path("fleet"), fleet, Date.now());
    this.#broker = await NatsServer.withFolder(program, this.#path("fleet/broker"), host).start();
    if (TestServer.running.has(this.server)) await this.server.stop();
    this.setWorkHere(workHere);
    await this.server.start();
    for (const name of workers) this.start(name, place === undefined ? {} : { place });
    await this.untilPresent();
  }

  /** Starts a worker, also one of a pool that comes later. */
  start(name: string, options: Pick<LocalFleetOptions, "environment" | "place"> = {}): TestWorker {
    const pool = poolOf(name);
    const own = pool === null ? [] : ["--machine", name.slice(pool.length + 1)];
    const worker = new TestWorker({
      args: ["--config", this.#path(`fleet/${pool ?? name}/fleet.toml`), "--fleet", this.broker.url, ...own],
      verdictsOf: this.server.dataDirectory,
      ...options,
      environment: { ...this.#environment, ...options.environment },
    });
    this.workers.set(name, worker);
    return worker;
  }

  /** Chooses whether the coordinator's own engine processes parts, from its next start on. */
  setWorkHere(workHere: boolean): void {
    const { url, machine, ...files } = this.#access();
    const settings = Object.entries({ broker: url, machine, ...files });
    const lines = settings.map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
    writeFileSync(this.#path("transcribe.toml"), `[fleet]\n${lines.join("")}work_here = ${workHere}\n`);
  }

  /** Resolves when the server lists all workers, with a lane each. */
  async untilPresent(): Promise<void> {
    const lanes = (name: string) => this.metric(`transcribe_fleet_worker_lanes{machine="${poolOf(name) ?? name}"}`);
    await this.server.until(async () => {
      const all = await Promise.all(this.#options.workers.map(lanes));
      return all.every((count) => count > 0);
    });
  }

  /** Returns the value of a metric of the server; 0 if there is none. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.server.origin}/metrics`)).text();
    const line = text.split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length) ?? 0);
  }

  /** Returns the number of messages in the broker's streams, and its files with data of a stream. */
  async leftInBroker(): Promise<{ readonly messages: number; readonly files: readonly string[] }> {
    const broker = await Broker.connect({ ...this.#access(), log: createLogger("silent") });
    const pools = ["", ...this.#options.workers.flatMap((name) => poolOf(name) ?? [])];
    const reports = await Promise.all(pools.map((pool) => broker.streamOf(pool).report())).finally(() =>
      broker.close(),
    );
    const store = readdirSync(this.#path("fleet/broker"), { recursive: true }).map(String);
    const messages = reports.reduce((sum, report) => sum + (report?.messages ?? 0), 0);
    return { messages, files: store.filter((name) => name.endsWith(".blk")) };
  }

  /** Returns the temporary files, and the data of operations, that the machines have not removed. */
  leftovers(): string[] {
    const ofWorkers = [...this.workers].flatMap(([name, worker]) =>
      worker.leftovers().map((file) => `${name}: ${file}`),
    );
    return [...readdirSync(this.#path("tmp")), ...ofWorkers];
  }

  /** Directories that belong to this fleet's processes. */
  get directories(): readonly string[] {
    const workers = [...this.workers.values()].map(({ dataDirectory }) => dataDirectory);
    return [this.#directory.path, this.server.dataDirectory, ...workers];
  }

  /** Stops the machines with SIGTERM: first the workers, then the server. @returns the exit codes that are not 0 */
  async stop(): Promise<string[]> {
    const stopWorker = async ([name, worker]: [string, TestWorker]) => [name, await worker.end("SIGTERM")] as const;
    const codes = await Promise.all([...this.workers].map(stopWorker));
    codes.push([COORDINATOR, await this.server.stop()]);
    await this.broker.stop("SIGTERM");
    return codes.flatMap(([name, code]) => (code === 0 ? [] : [`${name}: ${code}`]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const worker of this.workers.values()) await worker[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    await this.#broker?.[Symbol.asyncDispose]();
    this.#directory[Symbol.dispose]();
  }

  #path(name: string): string {
    return join(this.#directory.path, name);
  }

  /** The coordinator's access to the broker. */
  #access() {
    const [ca, certificate, key] = ["ca", "certificate", "key"].map((name) =>
      this.#path(`fleet/${COORDINATOR}/${name}.pem`),
    ) as [string, string, string];
    return { url: this.broker.url, machine: COORDINATOR, ca, certificate, key };
  }
}

/** Returns the pool of a worker; null if it has a certificate of its own. */
function poolOf(name: string): string | null {
  const [pool = "", instance] = name.split(".");
  return instance === undefined ? null : pool;
}
