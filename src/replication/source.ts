import { join } from "node:path";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { DataPaths } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { isSettled, readLogEnd, writeLogEnd } from "./log-end.ts";
import { frameBytes, isSamePosition, type LogPosition } from "./log-format.ts";
import { LogHold } from "./log-hold.ts";
import { type SessionStatus, StandbySession } from "./session.ts";

/** Time for which the log is held for a standby that is away, so that it needs no new copy of the database. */
const ABSENT_MILLISECONDS = 10 * 60_000;
const EMPTY_ATTEMPTS = 5;
/** Time after a restart of the log after which its end can be noted, see `isSettled`. */
const SETTLE_MILLISECONDS = 60;
/** Interval at which the size of a held log is compared with its limit. */
const LIMIT_MILLISECONDS = 1_000;

export interface SourceOptions {
  readonly paths: DataPaths;
  /** Maximum size of the database's log that a standby may cause. */
  readonly maxLogBytes: () => number;
  /** Whether only this process stores audio, through the store of `paths`. */
  readonly knowsAudio: boolean;
  /** Maximum time that a create waits until its audio was sent, in milliseconds; null for no limit. */
  readonly maxAudioWait: () => number | null;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** State of a server's standby. */
export interface SourceStatus {
  /** Name of the standby that is connected; null for none. */
  readonly standby: string | null;
  readonly session: SessionStatus | null;
}

/** Lets one standby follow a data directory. */
export class StandbySource {
  readonly #options: SourceOptions;
  #hold: LogHold | null = null;
  #session: StandbySession | null = null;
  #peer: string | null = null;
  #absentSince: number;
  /** Why the last connection ended; empty if it just ended. */
  #lastTrouble = "";
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;
  #onStop = () => {};
  /** File with the end of the last log that was emptied; empty if no later process needs it. */
  #endPath = "";
  /** Contents of that file, if this process has written it. */
  #noted: LogPosition | null = null;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#absentSince = options.now();
    this.#timer = setInterval(() => this.#look(), LIMIT_MILLISECONDS);
    this.#timer.unref();
  }

  /**
   * Holds the log for a standby that followed an earlier server, and stores what a later server needs for the same.
   * @throws an SQLite error
   */
  hold(): void {
    const { paths } = this.#options;
    this.#endPath = join(paths.state, "server-log-end.json");
    this.#opened().take(() => readLogEnd(this.#endPath, paths.databasePath, "boot"));
  }

  /** Lets the standby have everything, and empties the log, so that it continues after the next start at once. */
  async finish(): Promise<void> {
    if (!(await this.emptyLog())) return;
    await sleep(SETTLE_MILLISECONDS);
    this.#noteEnd();
  }

  /**
   * Serves a standby on a connection until that ends. Another connection of the same standby replaces the former one,
   * which may have ended without notice. Another standby is refused.
   * @param peer name of the standby
   */
  async serve(stream: Duplex, peer: string): Promise<void> {
    const { log, now, ...options } = this.#options;
    if (this.#isStopped || (this.#session !== null && this.#peer !== peer)) {
      log.warn({ event: "standby.refused", standby: peer, trouble: `${this.#peer} follows this server` });
      stream.destroy();
      return;
    }
    this.#session?.end();
    this.#peer = peer;
    log[this.#lastTrouble === "" ? "info" : "debug"]({ event: "standby.connected", standby: peer });
    let session: StandbySession | null = null;
    let trouble = "";
    try {
      session = new StandbySession(stream, { ...options, now, hold: this.#opened() });
      this.#session = session;
      await session.run();
    } catch (error) {
      stream.destroy();
      trouble = messageOf(error);
    }
    // A standby whose disk is full connects every few seconds: one line for each reason.
    const isRepeated = trouble !== "" && trouble === this.#lastTrouble && (session?.confirmed ?? null) === null;
    this.#lastTrouble = trouble;
    const level = isRepeated ? "debug" : trouble === "" ? "info" : "warn";
    log[level]({ event: "standby.disconnected", standby: peer, ...(trouble === "" ? {} : { trouble }) });
    if (this.#session !== session) return;
    this.#session = null;
    this.#peer = null;
    this.#absentSince = now();
  }

  status(): SourceStatus {
    return { standby: this.#peer, session: this.#session?.status() ?? null };
  }

  /** Returns whether a standby is connected and has a complete copy. */
  get isFollowed(): boolean {
    return this.#session?.status().phase === "following";
  }

  /** Resolves when the standby has everything that was written before the call; with false if it is not connected. */
  async confirmation(): Promise<boolean> {
    return (await this.#session?.confirmation()) ?? false;
  }

  /**
   * Empties the log of the database, in which deleted data remains, once the standby has what is in it.
   * @returns false if the standby is away or slow, or somebody reads the database
   */
  async emptyLog(): Promise<boolean> {
    const session = this.#session;
    // Other writes may come between the confirmation and the restart.
    for (let attempts = 0; session !== null && attempts < EMPTY_ATTEMPTS; attempts++) {
      if (!(await session.confirmation())) return false;
      if (await session.emptyLog()) return true;
    }
    return false;
  }

  /** Whether the log is held, so that nobody else can empty it. */
  get isHolding(): boolean {
    return this.#hold?.isHeld ?? false;
  }

  /** Sets a function that the stop calls. */
  onStop(callback: () => void): void {
    this.#onStop = callback;
  }

  stop(): void {
    this.#isStopped = true;
    this.#onStop();
    clearInterval(this.#timer);
    this.#session?.end();
    this.#hold?.[Symbol.dispose]();
    this.#hold = null;
  }

  #opened(): LogHold {
    this.#hold ??= new LogHold(this.#options.paths.databasePath);
    return this.#hold;
  }

  #look(): void {
    try {
      this.#noteEnd();
      this.#limit();
    } catch (error) {
      // The next look repeats it.
      this.#options.log.error({ event: "standby.failed", trouble: messageOf(error) });
    }
  }

  /** Stores the end of the last log that was emptied, if the database file has not changed since. */
  #noteEnd(): void {
    const { databasePath } = this.#options.paths;
    const end = this.#hold?.sealed ?? null;
    if (this.#endPath === "" || end === null || (this.#noted !== null && isSamePosition(end, this.#noted))) return;
    if (!isSettled(databasePath, this.#options.now())) return;
    writeLogEnd(this.#endPath, databasePath, end);
    this.#noted = end;
  }

  /**
   * Releases the log when no standby came for a while, or when it has grown to its limit and the standby lacks some of it.
   * That standby then needs a new copy of the database.
   */
  #limit(): void {
    const logBytes = this.#excess();
    if (logBytes === null) return;
    this.#session?.end();
    this.#hold?.release();
    this.#options.log.warn({ event: "standby.given_up", standby: this.#peer, logBytes });
  }

  /** Returns the size of the log if it must be released; null otherwise. */
  #excess(): number | null {
    const hold = this.#hold;
    if (hold === null || !hold.isHeld) return null;
    const { now, maxLogBytes } = this.#options;
    const state = hold.state();
    const logBytes = state.frames * frameBytes(state.pageBytes);
    const isLong = logBytes > maxLogBytes();
    const session = this.#session;
    const isGivenUp =
      session === null
        ? isLong || now() - this.#absentSince >= ABSENT_MILLISECONDS
        : isLong && (session.confirmed === null || !isSamePosition(session.confirmed, state));
    return isGivenUp ? logBytes : null;
  }
}
