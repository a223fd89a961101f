import type { LocalFleet } from "../../harness/local-fleet.ts";
import { isAlive } from "../../harness/processes.ts";
import type { TestWorker } from "../../harness/test-worker.ts";
import { COORDINATOR } from "../../src/fleet/index.ts";
import { suspend } from "../shared/processes.ts";

/** Pause before a process that has exited is started again, as by a service manager. */
const RESTART_MILLISECONDS = 500;
const BROKER = "broker";

/**
 * Kills and suspends the machines of a fleet. Each process is started again when it exits, as a service manager does,
 * until the fleet stops.
 */
export class RestartedFleet implements AsyncDisposable {
  readonly #fleet: LocalFleet;
  readonly #restarts: readonly Promise<void>[];
  #starting: Promise<void> | null = null;
  #stops = false;

  /** @param fleet whose workers are present */
  constructor(fleet: LocalFleet) {
    this.#fleet = fleet;
    this.#restarts = [...fleet.workers.values()].map((worker) => this.#keepRunning(worker));
  }

  /** Machines that can be killed: those that can be suspended, and the coordinator. */
  get machines(): readonly string[] {
    return [COORDINATOR, ...this.helpers];
  }

  /** Machines that can be suspended. */
  get helpers(): readonly string[] {
    return [BROKER, ...this.#fleet.workers.keys()];
  }

  /**
   * Kills a machine's process as a power cut would.
   * @param pauseMilliseconds time until a killed broker starts again
   * @returns false if it does not run at the moment
   */
  async kill(machine: string, pauseMilliseconds: number): Promise<boolean> {
    const { server, broker } = this.#fleet;
    const pid = this.#pidOf(machine);
    if (pid === null) return false;
    if (machine === COORDINATOR) {
      await server.killHard();
      this.#starting ??= this.#startServer().finally(() => {
        this.#starting = null;
      });
    } else if (machine === BROKER) {
      await broker.stop("SIGKILL");
      await Bun.sleep(pauseMilliseconds);
      await broker.start();
    } else process.kill(pid, "SIGKILL");
    return true;
  }

  /** Stops the processes of a machine (SIGSTOP) and lets them continue after a time. */
  async suspend(machine: string, milliseconds: number): Promise<void> {
    const pid = this.#pidOf(machine);
    if (pid === null) return;
    const resume = suspend(pid);
    await Bun.sleep(milliseconds);
    resume();
  }

  /** Resolves when all machines run again, and the workers are present and have removed their files. */
  async recovered(): Promise<void> {
    const { server } = this.#fleet;
    await this.#starting;
    await this.#fleet.untilPresent();
    await server.until(() => this.#fleet.leftovers().length === 0).catch(() => {});
    await server.untilCleanedUp();
  }

  /** Stops the machines with SIGTERM. @returns the exit codes that are not 0 */
  async stop(): Promise<string[]> {
    this.#stops = true;
    const failed = await this.#fleet.stop();
    await Promise.all(this.#restarts);
    return failed;
  }

  /** Kills broker and workers at once; the directories remain. */
  killAll(): void {
    this.#stops = true;
    for (const machine of this.helpers) {
      const pid = this.#pidOf(machine);
      if (pid !== null) process.kill(pid, "SIGKILL");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.killAll();
    await this.#starting?.catch(() => {});
    await Promise.all(this.#restarts);
  }

  #pidOf(machine: string): number | null {
    const { server, broker, workers } = this.#fleet;
    try {
      if (machine === COORDINATOR) return server.pid;
      const pid = machine === BROKER ? broker.pid : workers.get(machine)?.pid;
      return pid !== undefined && isAlive(pid) ? pid : null;
    } catch {
      return null;
    }
  }

  /** Starts the server again. It may be killed before it listens, and it does not start without a broker. */
  async #startServer(): Promise<void> {
    while (!this.#stops) {
      await this.#fleet.server.start(false).catch(() => {});
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
