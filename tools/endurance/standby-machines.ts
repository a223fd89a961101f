import { TestClient } from "../../harness/client.ts";
import { isAlive } from "../../harness/processes.ts";
import { runCli, startTimeout } from "../../harness/server.ts";
import { type RunningProgram, StandbyPair } from "../../harness/standby-pair.ts";
import { suspend } from "../shared/processes.ts";
import { BadConnection } from "./bad-connection.ts";
import type { RoundServer } from "./rounds.ts";

/** Duration of the lease, by which a takeover takes longer. */
export const LEASE_SECONDS = 6;
/** Exit code of a server that another one has replaced. */
const REPLACED = 6;

/** The ways in which a server is lost before a takeover. */
export type Loss = "killed" | "stopped";

/**
 * A server and its standby, with a connection between them that can fail, and a fence. Whatever is killed starts again,
 * and after a takeover the former server is the standby.
 */
export class StandbyMachines implements RoundServer, AsyncDisposable {
  readonly pair: StandbyPair;
  readonly connection: BadConnection;
  readonly log: RunningProgram["log"] = [];
  readonly #settings: Readonly<Record<string, string>>;
  #waits = false;
  /** A key of the server. */
  #key = "";
  #from = "";
  #server: RunningProgram | null = null;
  #standby: RunningProgram | null = null;

  /** @param settings settings of each server */
  static async start(settings: Readonly<Record<string, string>>, waits: boolean): Promise<StandbyMachines> {
    const machines = new StandbyMachines(await StandbyPair.create(), settings);
    machines.#from = `tls://127.0.0.1:${await machines.connection.listen()}`;
    await machines.#serve(waits);
    machines.#key = machines.client("observer").key;
    machines.#follow();
    await machines.untilFollowing();
    return machines;
  }

  private constructor(pair: StandbyPair, settings: Readonly<Record<string, string>>) {
    this.pair = pair;
    this.connection = new BadConnection(() => pair.standbyPort);
    this.#settings = { ...pair.fenceSettings(LEASE_SECONDS), ...settings };
  }

  get dataDirectory(): string {
    return this.pair.serverDirectory;
  }

  get baseUrl(): string {
    return `${this.pair.origin}/api/public/v1`;
  }

  /** Whether the server waits for the standby. */
  get waits(): boolean {
    return this.#waits;
  }

  client(name: string): ReturnType<StandbyPair["client"]> {
    return this.pair.client(name);
  }

  async until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (const giveUpAt = performance.now() + startTimeout; !(await isTrue()); await Bun.sleep(50)) {
      if (performance.now() > giveUpAt) throw new Error(`the condition is still false: ${isTrue}`);
    }
  }

  /** Waits until the standby has a complete copy, and follows. */
  async untilFollowing(): Promise<void> {
    await this.until(async () => {
      const status = await fetch(`${this.pair.origin}/metrics`).then(
        (response) => response.text(),
        () => "",
      );
      return /^transcribe_standby_unfollowed_seconds 0$/m.test(status);
    });
  }

  /** Kills the server or the standby, and starts it again after a pause. */
  async kill(machine: "server" | "standby", pauseMilliseconds: number, whenDown: () => void = () => {}): Promise<void> {
    const running = machine === "server" ? this.#server : this.#standby;
    await running?.end("SIGKILL");
    whenDown();
    await Bun.sleep(pauseMilliseconds);
    if (machine === "server") await this.#serve(this.#waits);
    else this.#follow();
  }

  /** Stops the processes of the server or the standby for a time. */
  async suspend(machine: "server" | "standby", milliseconds: number): Promise<void> {
    const running = machine === "server" ? this.#server : this.#standby;
    if (running === null || !isAlive(running.child.pid)) return;
    const resume = suspend(running.child.pid);
    await Bun.sleep(milliseconds);
    resume();
  }

  /**
   * Loses the server, lets the standby take over, and makes the former server the standby.
   * @param loss a server that is stopped continues when the other one serves, and must exit by itself
   * @param waits whether the new server waits for its standby
   * @param onPromoted called before the new server serves
   * @returns when the server was lost, and the seconds until the first answer of the new one
   */
  async takeOver(
    loss: Loss,
    waits: boolean,
    onPromoted: () => void,
  ): Promise<{ readonly lostAt: number; readonly seconds: number }> {
    const former = this.#server;
    if (former === null) throw new Error("there is no server");
    const lostAt = Date.now();
    const begun = performance.now();
    let resume = () => {};
    if (loss === "killed") await former.end("SIGKILL");
    else resume = suspend(former.child.pid);
    const directory = this.pair.standbyDirectory;
    const promoted = await runCli(["promote", "--data-dir", directory], this.#settings);
    if (promoted.exitCode !== 0) throw new Error(`promote failed with ${promoted.exitCode}: ${promoted.stderr}`);
    await this.#standby?.child.exited;
    onPromoted();
    this.pair.exchange();
    if (loss === "stopped") this.pair.useOtherPorts();
    await this.#serve(waits);
    await this.until(() => this.#answers());
    const seconds = (performance.now() - begun) / 1000;
    resume();
    const exitCode = loss === "stopped" ? await former.child.exited : REPLACED;
    if (exitCode !== REPLACED) throw new Error(`a server that was replaced exited with ${exitCode}`);
    this.connection.heal();
    this.#follow();
    return { lostAt, seconds };
  }

  /** Stops both with SIGTERM, the standby last. @returns the exit codes that are not 0 */
  async stop(): Promise<string[]> {
    const server = await this.#server?.end("SIGTERM");
    const standby = await this.#standby?.end("SIGTERM");
    return Object.entries({ server, standby }).flatMap(([name, code]) => (code === 0 ? [] : [`${name}: ${code}`]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection[Symbol.dispose]();
    await this.pair[Symbol.asyncDispose]();
  }

  async #serve(waits: boolean): Promise<void> {
    this.#waits = waits;
    const running = await this.pair.serve(
      { ...this.#settings, TRANSCRIBE_STANDBY_WAIT: String(waits) },
      null,
      this.log,
    );
    this.#server = running;
  }

  /** Returns whether the server answers a request for data. */
  async #answers(): Promise<boolean> {
    const client = new TestClient(this.baseUrl, this.#key);
    const response = await client.fetch("/transcriptions?limit=1").catch(() => null);
    return response?.ok ?? false;
  }

  #follow(): void {
    // A former server has data of its own. For a standby that starts again, the option has no effect.
    this.#standby = this.pair.follow(this.#from, undefined, "--replace");
  }
}
