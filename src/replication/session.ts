import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { programVersion } from "../program/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { Channel } from "./channel.ts";
import { Confirmations, type Waiter } from "./confirmations.ts";
import { requireLane } from "./data-files.ts";
import { blockCount, DatabaseSender } from "./database-sender.ts";
import { FileSender } from "./file-sender.ts";
import { isSamePosition, type LogPosition } from "./log-format.ts";
import type { LogHold } from "./log-hold.ts";
import {
  DIGEST_BYTES,
  kinds,
  PROTOCOL_VERSION,
  ProtocolError,
  readStandbyMessage,
  type ServerMessage,
  type StandbyMessage,
} from "./messages.ts";

/** Interval between two looks at the log, which other processes write, too. */
const LOOK_MILLISECONDS = 100;
/** Interval of the messages about the state of the copy. */
const STATUS_MILLISECONDS = 1_000;
/**
 * Time without a message after which a standby counts as gone. It sends one each second, also while it receives a large
 * file, so that a change may wait for as long as its audio needs.
 */
const SILENT_MILLISECONDS = 15_000;
/** Maximum time for the standby to introduce itself. */
const HELLO_MILLISECONDS = 15_000;
/** Interval between two restarts of the log, which copy it to the database and empty it. */
const RESTART_MILLISECONDS = 2_500;
const RESTART_RETRY_MILLISECONDS = 250;
/** Maximum number of files that a standby may have. */
const MAX_FILES = 20_000_000;

export interface SessionOptions {
  readonly paths: DataPaths;
  readonly hold: LogHold;
  /** Whether only this process stores audio, through the store of `paths`. */
  readonly knowsAudio: boolean;
  /** Maximum time that a create waits until its audio was sent, in milliseconds; null for no limit. */
  readonly maxAudioWait: () => number | null;
  readonly now: () => number;
}

export type Phase = "files" | "snapshot" | "following";

/** State of the copy of a standby. */
export interface SessionStatus {
  readonly phase: Phase;
  readonly behindBytes: number;
  /** Age of the oldest change that the standby has not confirmed. */
  readonly delayMilliseconds: number;
  readonly lastContactMilliseconds: number;
}

/** A connection with a standby: sends it the files and the database, and whatever changes. */
export class StandbySession {
  readonly #options: SessionOptions;
  readonly #channel: Channel<ServerMessage>;
  readonly #files: FileSender;
  readonly #database: DatabaseSender;
  #phase: Phase = "files";
  readonly #hello = Promise.withResolvers<Extract<StandbyMessage, { type: "hello" }>>();
  readonly #haveAll = Promise.withResolvers<void>();
  #digests: { readonly received: Buffer[]; bytes: number; readonly maxBytes: number } | null = null;
  readonly #allDigests = Promise.withResolvers<Buffer>();
  #fileCount = 0;
  readonly #confirmations = new Confirmations();
  #confirmed: LogPosition | null = null;
  /** Time since which changes are being sent; null if there are none. */
  #sendingSince: number | null = null;
  #behindBytes = 0;
  /** Callers that wait for the next restart of the log. */
  readonly #emptiers: Waiter[] = [];
  #wake = Promise.withResolvers<void>();
  #isEnded = false;
  #nextStatus = 0;
  #nextRestart = 0;

  constructor(stream: Duplex, options: SessionOptions) {
    this.#options = options;
    this.#channel = new Channel<ServerMessage>(stream);
    this.#files = new FileSender(options.paths, this.#channel, { ...options, onWork: () => this.#wake.resolve() });
    this.#database = new DatabaseSender(options.paths.databasePath, options.hold, this.#channel);
    for (const { promise } of [this.#hello, this.#haveAll, this.#allDigests]) promise.catch(() => {});
  }

  /** Position of the log up to which the standby has everything; null before the first confirmation. */
  get confirmed(): LogPosition | null {
    return this.#confirmed;
  }

  status(): SessionStatus {
    const since = this.#confirmations.since ?? this.#sendingSince;
    return {
      phase: this.#phase,
      behindBytes: this.#behindBytes,
      delayMilliseconds: since === null ? 0 : Math.max(0, this.#options.now() - since),
      lastContactMilliseconds: performance.now() - this.#channel.lastArrivalAt,
    };
  }

  /**
   * Resolves when the standby has everything that was written before the call; with false if the connection ends before,
   * or while the copy is not complete yet.
   */
  async confirmation(): Promise<boolean> {
    if (this.#isEnded || this.#phase !== "following") return false;
    const confirmed = this.#confirmations.next();
    this.#wake.resolve();
    return await confirmed;
  }

  /** Serves the standby until the connection ends. @throws the reason why it ended, other than its end */
  async run(): Promise<void> {
    const timer = setInterval(() => {
      if (performance.now() - this.#channel.lastArrivalAt > SILENT_MILLISECONDS) this.#channel.destroy();
    }, STATUS_MILLISECONDS);
    try {
      await Promise.race([this.#receive(), this.#serve()]);
    } finally {
      clearInterval(timer);
      this.#isEnded = true;
      this.#channel.destroy();
      this.#files.close();
      this.#confirmations.end();
      for (const resolve of this.#emptiers.splice(0)) resolve(false);
      this.#wake.resolve();
    }
  }

  end(): void {
    this.#channel.destroy();
  }

  async #serve(): Promise<void> {
    const hello = await within(HELLO_MILLISECONDS, this.#hello.promise);
    if (hello.protocol !== PROTOCOL_VERSION) {
      const reason = `the server, version ${programVersion}, has another protocol than the standby; install the same version on both`;
      await this.#channel.send({ type: "refused", reason });
      await this.#channel.end();
      throw new ProtocolError(reason);
    }
    const database = this.#options.hold.databaseId();
    await this.#channel.send({ type: "welcome", protocol: PROTOCOL_VERSION, version: programVersion, database });
    await this.#haveAll.promise;
    await this.#sendStatus();
    // Before the database, so that its log is not held for hours at the first time.
    await this.#files.sendUrgent();
    const { hold } = this.#options;
    hold.take();
    if (hello.position === null || !this.#database.continueAfter(hello.position)) await this.#sendSnapshot();
    await this.#follow();
  }

  async #sendSnapshot(): Promise<void> {
    const { hold } = this.#options;
    this.#phase = "snapshot";
    await this.#sendStatus();
    await this.#database.sendSnapshot(async (bytes) => {
      this.#digests = { received: [], bytes: 0, maxBytes: blockCount(bytes) * DIGEST_BYTES };
      return await this.#allDigests.promise;
    });
    const state = hold.state();
    await this.#files.sendUrgent();
    await this.#database.sendLog(state);
    await this.#channel.send({ type: "snapshotEnd" });
  }

  async #follow(): Promise<void> {
    const { hold, now } = this.#options;
    while (!this.#isEnded) {
      const isAwaited = this.#confirmations.begin();
      this.#wake = Promise.withResolvers<void>();
      const missing = this.#files.takeMissing();
      const state = hold.state();
      this.#behindBytes = this.#database.bytesAfter(this.#confirmed, state);
      this.#sendingSince = this.#behindBytes > 0 ? now() : null;
      const since = now();
      await this.#files.sendUrgent();
      const before = this.#database.position;
      await this.#database.sendLog(state);
      await this.#files.remove(missing);
      const { position } = this.#database;
      const isNew = before === null || position === null || !isSamePosition(before, position);
      if (isNew || missing.length > 0 || isAwaited || this.#confirmations.isFirst) {
        const number = this.#confirmations.sent(position, since);
        this.#sendingSince = null;
        await this.#channel.send({ type: "sync", number });
      }
      await this.#restartLog();
      if (now() >= this.#nextStatus) await this.#sendStatus();
      if ((await this.#files.sendPiece()) || this.#confirmations.isAwaited || this.#emptiers.length > 0) continue;
      const timer = new AbortController();
      await Promise.race([this.#wake.promise, sleep(LOOK_MILLISECONDS, undefined, { signal: timer.signal })]).catch(
        () => {},
      );
      timer.abort();
    }
  }

  /** Empties the log if the standby has everything in it: every few seconds, or when somebody waits for it. */
  async #restartLog(): Promise<void> {
    const { hold, now } = this.#options;
    const { frames } = hold.state();
    if (this.#emptiers.length === 0 && (frames === 0 || now() < this.#nextRestart)) return;
    const confirmed = this.#confirmed;
    const isRestarted = frames > 0 && confirmed !== null && hold.restart(confirmed);
    for (const resolve of this.#emptiers.splice(0)) resolve(frames === 0 || isRestarted);
    // Without a restart, the standby lacks something, or somebody reads the database, such as a backup.
    this.#nextRestart = now() + (isRestarted ? RESTART_MILLISECONDS : RESTART_RETRY_MILLISECONDS);
    if (!isRestarted) return;
    await this.#channel.send({ type: "logEmptied" });
  }

  /** Empties the log now, here and there. @returns false if the standby lacks something, or somebody reads the database */
  async emptyLog(): Promise<boolean> {
    if (this.#isEnded) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#emptiers.push(resolve);
    this.#wake.resolve();
    return await promise;
  }

  async #sendStatus(): Promise<void> {
    this.#nextStatus = this.#options.now() + STATUS_MILLISECONDS;
    const { phase, behindBytes, delayMilliseconds } = this.status();
    await this.#channel.send({ type: "status", phase, behindBytes, delayMilliseconds });
  }

  async #receive(): Promise<void> {
    for await (const { kind, body } of this.#channel.messages()) {
      if (kind === kinds.json) this.#handle(readStandbyMessage(body));
      else if (kind === kinds.digests) this.#takeDigests(body);
      else throw new ProtocolError(`the standby sent a message of kind ${kind}`);
    }
  }

  #handle(message: StandbyMessage): void {
    switch (message.type) {
      case "hello":
        this.#hello.resolve(message);
        break;
      case "have":
        this.#fileCount += message.entries.length;
        if (this.#fileCount > MAX_FILES) throw new ProtocolError("the standby has too many files");
        for (const { path } of message.entries) requireLane(path);
        this.#files.has(message.entries);
        break;
      case "haveAll":
        this.#haveAll.resolve();
        break;
      case "digestsEnd":
        this.#allDigests.resolve(Buffer.concat(this.#digests?.received ?? []));
        break;
      case "synced":
        this.#synced(message.number);
        break;
      case "stored":
        this.#files.stored(message.bytes);
        this.#wake.resolve();
        break;
      case "failed":
        throw new Error(`the standby stopped: ${message.reason}`);
      case "alive":
    }
  }

  #takeDigests(body: Buffer): void {
    const digests = this.#digests;
    if (digests === null || digests.bytes + body.length > digests.maxBytes) {
      throw new ProtocolError("the standby sent digests that were not requested");
    }
    digests.received.push(Buffer.from(body));
    digests.bytes += body.length;
  }

  #synced(number: number): void {
    this.#confirmed = this.#confirmations.confirm(number);
    this.#phase = "following";
    this.#behindBytes = this.#database.bytesAfter(this.#confirmed, this.#options.hold.state());
  }
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = sleep(milliseconds, undefined, { signal: timer.signal }).then(() => {
    throw new ProtocolError("the standby did not introduce itself");
  });
  late.catch(() => {});
  return await Promise.race([promise, late]).finally(() => timer.abort());
}
