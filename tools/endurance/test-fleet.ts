import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NatsServer } from "../../harness/nats-server.ts";
import { childrenOf, isAlive } from "../../harness/processes.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";
import { Broker, COORDINATOR, FleetDirectory } from "../../src/fleet/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

/** Pause before a process that has exited is started again, as by a service manager. */
const RESTART_MILLISECONDS = 500;

/**
 * A fleet on this machine with mutual TLS: broker, coordinator and workers. Each process is started again when it exits,
 * as a service manager does, until the fleet stops.
 */
export class TestFleet implements AsyncDisposable {
  readonly server: TestServer;
  readonly #directory = temporaryDirectory();
  readonly #program: string;
  readonly #names: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #settings: string;
  readonly #temporary: string;
  #broker: NatsServer | null = null;
  #workers: TestWorker[] = [];
  #restarts: Promise<void>[] = [];
  #starting: Promise<void> | null = null;
  #stops = false;

  /**
   * @param program nats-server
   * @param environment settings of all machines, except of the fleet
   */
  constructor(program: string, names: readonly string[], environment: Readonly<Record<string, string>>) {
    this.#program = program;
    this.#names = names;
    this.#settings = join(this.#directory.path, "transcribe.toml");
    this.#temporary = join(this.#directory.path, "tmp");
    mkdirSync(this.#temporary);
    this.#environment = { ...environment, TMPDIR: this.#temporary, TRANSCRIBE_ENGINE_THREADS: "1" };
    // The settings change while the server does not run: at first it works alone.
    writeFileSync(this.#settings, "");
    this.server = new TestServer({ ...this.#environment, TRANSCRIBE_CONFIG: this.#settings });
  }

  /** Restarts the server, which worked alone, as the coordinator of a fleet. Resolves when all workers are present. */
  async join(worksHere: boolean): Promise<void> {
    const path = join(this.#directory.path, "fleet");
    await FleetDirectory.create(path, { broker: ["127.0.0.1"], port: 4222, workers: this.#names }, Date.now());
    const broker = await NatsServer.withFolder(this.#program, join(path, "broker")).start();
    this.#broker = broker;
    await this.server.stop();
    this.setWorkHere(worksHere);
    const since = this.server.log.length;
    await this.server.start();
    for (const name of this.#names) {
      const worker = new TestWorker({
        args: ["--config", join(path, name, "fleet.toml"), "--fleet", broker.url],
        environment: this.#environment,
        verdictsOf: this.server.dataDirectory,
      });
      this.#workers.push(worker);
      this.#restarts.push(this.#keepRunning(worker));
    }
    const joined = () => this.server.log.slice(since).filter(({ event }) => event === "fleet.worker_joined");
    await this.server.until(() => joined().length >= this.#names.length);
  }

  /** Chooses whether the coordinator's own engine processes parts, from its next start on. */
  setWorkHere(worksHere: boolean): void {
    const folder = join(this.#directory.path, "fleet", COORDINATOR);
    const file = (name: string) => JSON.stringify(join(folder, name));
    const settings = {
      broker: JSON.stringify(this.#broker?.url),
      ca: file("ca.pem"),
      certificate: file("certificate.pem"),
      key: file("key.pem"),
      machine: JSON.stringify(COORDINATOR),
      work_here: String(worksHere),
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    writeFileSync(this.#settings, `[fleet]\n${lines.join("")}`);
  }

  /** Machines that can be killed and stopped. */
  get machines(): readonly string[] {
    return [COORDINATOR, "broker", ...this.#names];
  }

  /**
   * Kills a machine's process as a power cut would.
   * @param pauseMilliseconds time until a killed broker starts again
   * @returns false if it does not run at the moment
   */
  async kill(machine: string, pauseMilliseconds: number): Promise<boolean> {
    const pid = this.#pidOf(machine);
    if (pid === null) return false;
    if (machine === COORDINATOR) {
      await this.server.killHard();
      this.#starting ??= this.#startServer().finally(() => {
        this.#starting = null;
      });
    } else if (machine === "broker") {
      await this.#broker?.stop("SIGKILL");
      await Bun.sleep(pauseMilliseconds);
      await this.#broker?.start();
    } else process.kill(pid, "SIGKILL");
    return true;
  }

  /** Stops the processes of a machine (SIGSTOP) and lets them continue after a time. */
  async suspend(machine: string, milliseconds: number): Promise<void> {
    const pid = this.#pidOf(machine);
    if (pid === null) return;
    const all = [pid, ...childrenOf(pid, "__worker")];
    const send = (signal: NodeJS.Signals) => {
      for (const each of all) {
        try {
          process.kill(each, signal);
        } catch {
          // It was killed meanwhile.
        }
      }
    };
    send("SIGSTOP");
    await Bun.sleep(milliseconds);
    send("SIGCONT");
  }

  /** Returns the number of lines with an event in the logs of the workers. */
  countInWorkers(event: string): number {
    return this.#workers.flatMap(({ log }) => log).filter((line) => line.event === event).length;
  }

  /** Resolves when all machines run again, and the workers are present and idle. */
  async recovered(): Promise<void> {
    await this.#starting;
    await this.server.until(async () => {
      const metrics = await (await fetch(`${this.server.origin}/metrics`)).text();
      return this.#names.every((name) => metrics.includes(`transcribe_fleet_worker_lanes{machine="${name}"} 1`));
    });
    await this.server.until(() => this.strayFiles().length === 0).catch(() => {});
  }

  /** Returns the number of messages in the broker's stream, and its files with data of a stream. */
  async leftInBroker(): Promise<{ readonly messages: number; readonly files: readonly string[] }> {
    const folder = join(this.#directory.path, "fleet", COORDINATOR);
    const broker = await Broker.connect({
      url: this.#broker?.url ?? "",
      ca: join(folder, "ca.pem"),
      certificate: join(folder, "certificate.pem"),
      key: join(folder, "key.pem"),
      machine: COORDINATOR,
      log: createLogger("silent"),
    });
    try {
      const report = await broker.stream.report();
      const store = readdirSync(join(this.#directory.path, "fleet/broker"), { recursive: true }).map(String);
      return { messages: report?.messages ?? 0, files: store.filter((name) => name.endsWith(".blk")) };
    } finally {
      await broker.close();
    }
  }

  /** Returns the files that the machines should have removed. */
  strayFiles(): string[] {
    return [
      ...readdirSync(this.#temporary),
      ...this.#workers.flatMap((worker, at) => worker.leftovers().map((name) => `${this.#names[at]}: ${name}`)),
    ];
  }

  /** Paths that belong to this fleet's processes. */
  get paths(): readonly string[] {
    const directories = this.#workers.map(({ dataDirectory }) => dataDirectory);
    return [this.#directory.path, this.server.dataDirectory, ...directories];
  }

  /** Stops the machines with SIGTERM: first the workers, then the server. @returns the exit codes that are not 0 */
  async stop(): Promise<string[]> {
    this.#stops = true;
    const codes = await Promise.all(this.#workers.map((worker) => worker.end("SIGTERM")));
    await Promise.all(this.#restarts);
    codes.push(await this.server.stop());
    await this.#broker?.stop("SIGTERM");
    return [...this.#names, COORDINATOR].flatMap((name, at) => (codes[at] === 0 ? [] : [`${name}: ${codes[at]}`]));
  }

  /** Kills all processes at once; the directories remain. */
  killAll(): void {
    this.#stops = true;
    for (const machine of this.machines.filter((name) => name !== COORDINATOR)) {
      const pid = this.#pidOf(machine);
      if (pid !== null) process.kill(pid, "SIGKILL");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.killAll();
    await this.#starting?.catch(() => {});
    await Promise.all(this.#restarts);
    for (const worker of this.#workers) await worker[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    await this.#broker?.[Symbol.asyncDispose]();
    this.#directory[Symbol.dispose]();
  }

  #pidOf(machine: string): number | null {
    try {
      if (machine === COORDINATOR) return this.server.pid;
      const pid = machine === "broker" ? this.#broker?.pid : this.#workers[this.#names.indexOf(machine)]?.pid;
      return pid !== undefined && isAlive(pid) ? pid : null;
    } catch {
      return null;
    }
  }

  /** Starts the server again. It may be killed before it listens, and it does not start without a broker. */
  async #startServer(): Promise<void> {
    while (!this.#stops) {
      await this.server.start(false).catch(() => {});
      if (this.#pidOf(COORDINATOR) !== null) return;
      await Bun.sleep(RESTART_MILLISECONDS);
    }
  }

  async #keepRunning(worker: TestWorker): Promise<void> {
    for (;;) {
      await worker.exited;
      await Bun.sleep(RESTART_MILLISECONDS);
      if (this.#stops) return;
      worker.restart();
    }
  }
}
