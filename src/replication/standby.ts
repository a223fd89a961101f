import { existsSync, mkdirSync, rmSync, statfsSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { type Duplex, duplexPair } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { parseAddressWithPort } from "../addresses/index.ts";
import { programVersion } from "../program/index.ts";
import { DataPaths, readStandbyMarker, requireActive, writeStandbyMarker } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { type StandbyCredentials, StandbyError } from "./credentials.ts";
import { type FollowedState, follow } from "./follower.ts";
import { StandbySource } from "./source.ts";
import { type StandbyStatus, writeStatus } from "./status-file.ts";

/** Waits after failed connections; the last one is that after all others. */
const WAITS = [500, 1_000, 2_000, 5_000] as const;
const CONNECT_MILLISECONDS = 10_000;
const STATUS_MILLISECONDS = 1_000;
/** Interval of the updates of the directory's marker, which are synced. */
const MARKER_MILLISECONDS = 10_000;
/** File systems whose files other machines change, for which SQLite's locks and its index do not work. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9P"],
]);

export interface StandbyOptions {
  readonly paths: DataPaths;
  /** Where the server is: `tls://HOST:PORT`, or its data directory. */
  readonly from: string;
  /** Reads the credentials for a URL, again for each connection, so that renewed ones are used. */
  readonly credentials: () => StandbyCredentials;
  readonly maxLogBytes: number;
  readonly log: Logger;
  readonly now: () => number;
}

/**
 * Makes a data directory that of a standby.
 * @param replace whether data of another server is replaced
 * @throws {StandbyError} if it has data of its own
 */
export function prepareStandby(paths: DataPaths, { from, replace }: { from: string; replace: boolean }, now: number) {
  const before = readStandbyMarker(paths);
  if (existsSync(paths.databasePath) && before === null && !replace) {
    throw new StandbyError(
      `${paths.root} has data of its own; use another --data-dir, or replace it with --replace, for example if this machine was the server before`,
    );
  }
  // The promotion has opened the copy with SQLite, so it is no longer equal to the server's database.
  if (before?.promoting === true && !replace) {
    throw new StandbyError(
      `a promotion of ${paths.root} was interrupted: repeat transcribe promote, or follow the server again with --replace`,
    );
  }
  // A copy of another server is complete only when everything of this one is there.
  const isOther = before?.from !== from || before.promoting === true;
  const database = replace ? null : (before?.database ?? null);
  if (isOther) writeStandbyMarker(paths, { from, since: now, appliedAt: null, complete: false, database });
  else if (replace) writeStandbyMarker(paths, { ...before, database });
  // From here on it is a standby's, so the mark of a server that was replaced has no more meaning.
  rmSync(join(paths.root, "replaced.json"), { force: true });
  if (isOther) rmSync(join(paths.state, "standby-log-end.json"), { force: true });
  // Uploads that the former server of this directory had not finished.
  if (isOther) rmSync(paths.incoming, { recursive: true, force: true });
  // SQLite's index of the log is of no use without a process that has the database open.
  rmSync(`${paths.databasePath}-shm`, { force: true });
  for (const directory of [paths.incoming, paths.uploads, paths.live, paths.work, paths.state]) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }
}

/**
 * Requires that the server has the database of which this directory has a copy. A server that has lost its disk begins with an
 * empty one, and the copy may be the last.
 * @throws {StandbyError}
 */
function requireSameDatabase(paths: DataPaths, from: string, id: string): void {
  const marker = readStandbyMarker(paths);
  if (marker === null || marker.database === id) return;
  if ((marker.database ?? null) === null) {
    writeStandbyMarker(paths, { ...marker, database: id });
    return;
  }
  throw new StandbyError(
    `${from} has another database than the one of which ${paths.root} has a copy, so nothing is copied. If that machine has lost its data, let this one take over: transcribe promote. To discard this copy: transcribe standby --replace`,
  );
}

/** Follows a server until the signal is aborted. Every failed connection is repeated. */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #stopping = new AbortController();
  #state: FollowedState | null = null;
  #nextMarker = 0;
  #lastContactAt: number | null = null;

  constructor(options: StandbyOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { log, from } = this.#options;
    const { signal } = this.#stopping;
    const timer = setInterval(() => this.#writeStatus(), STATUS_MILLISECONDS);
    this.#writeStatus();
    let failures = 0;
    let lastTrouble = "";
    while (!signal.aborted) {
      try {
        await this.#connection();
      } catch (error) {
        const trouble = messageOf(error);
        const hasFollowed = this.#state?.phase === "following";
        if (hasFollowed) failures = 0;
        // One line for each reason of an outage.
        if (!signal.aborted && (hasFollowed || trouble !== lastTrouble)) {
          log.warn({ event: "standby.connection_lost", from, trouble });
        }
        lastTrouble = trouble;
      }
      this.#state = null;
      await sleep(WAITS[Math.min(failures++, WAITS.length - 1)], undefined, { signal }).catch(() => {});
    }
    clearInterval(timer);
    this.#writeStatus();
  }

  stop(): void {
    this.#stopping.abort(new Error("the standby stops"));
  }

  status(): Omit<StandbyStatus, "writtenAt"> {
    return {
      role: "standby",
      pid: process.pid,
      version: programVersion,
      from: this.#options.from,
      phase: this.#state?.phase ?? "connecting",
      isComplete: readStandbyMarker(this.#options.paths)?.complete ?? false,
      lastContactAt: this.#lastContactAt,
      behindBytes: this.#state?.behindBytes ?? null,
      delaySeconds: this.#state === null ? null : this.#state.delayMilliseconds / 1000,
    };
  }

  async #connection(): Promise<void> {
    const { from, paths, log, now } = this.#options;
    const { signal } = this.#stopping;
    const wasFollowing = () => this.#state?.phase === "following";
    const onState = (state: FollowedState) => {
      const begins = state.phase === "following" && !wasFollowing();
      this.#state = state;
      if (!begins) return;
      this.#nextMarker = 0;
      this.#writeStatus();
      log.info({ event: "standby.following", from });
    };
    const onContact = () => {
      this.#lastContactAt = now();
    };
    const connected = from.startsWith("tls://") ? await this.#dial() : this.#openDirectory();
    try {
      const onDatabase = (id: string) => requireSameDatabase(paths, from, id);
      await follow(connected.stream, { paths, onState, onContact, onDatabase, signal });
    } finally {
      connected.close();
    }
  }

  async #dial(): Promise<{ readonly stream: Duplex; close(): void }> {
    const { from, credentials } = this.#options;
    const { host, port } = parseAddressWithPort(from.slice("tls://".length), "tls://transcribe.example.org:8788");
    const { authority, certificate, key } = credentials();
    const socket = connect({
      host,
      port,
      ca: authority,
      cert: certificate,
      key,
      // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise disable the check.
      rejectUnauthorized: true,
      minVersion: "TLSv1.3",
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const opened = Promise.withResolvers<void>();
    socket.once("secureConnect", () => opened.resolve());
    socket.on("error", (error) => opened.reject(error));
    socket.once("close", () => opened.reject(new Error("the server closed the connection")));
    const timer = setTimeout(() => socket.destroy(new Error("the server does not answer")), CONNECT_MILLISECONDS);
    const stop = () => socket.destroy();
    this.#stopping.signal.addEventListener("abort", stop, { once: true });
    await opened.promise.finally(() => {
      clearTimeout(timer);
      this.#stopping.signal.removeEventListener("abort", stop);
    });
    socket.setNoDelay(true);
    return { stream: socket, close: () => socket.destroy() };
  }

  /** Follows a data directory on this machine: the part of the server runs in this process as well. */
  #openDirectory(): { readonly stream: Duplex; close(): void } {
    const { from, log, now, maxLogBytes, paths } = this.#options;
    const theirs = new DataPaths(from);
    if (theirs.root === paths.root) throw new StandbyError("a standby cannot follow its own data directory");
    // The copy of another standby must not be opened, and a server that was replaced has old data.
    requireActive(theirs);
    if (!existsSync(theirs.databasePath)) throw new StandbyError(`${theirs.root} is no data directory of a server`);
    const kind = NETWORK_FILE_SYSTEMS.get(Number(statfsSync(theirs.root).type));
    if (kind !== undefined) {
      throw new StandbyError(
        `${theirs.root} is on ${kind}, where a database cannot be followed; connect to the server with --from tls://HOST:PORT`,
      );
    }
    const source = new StandbySource({
      paths: theirs,
      maxLogBytes: () => maxLogBytes,
      knowsAudio: false,
      maxAudioWait: () => null,
      log,
      now,
    });
    const [stream, other] = duplexPair();
    void source.serve(other, "directory").finally(() => stream.destroy());
    return { stream, close: () => source.stop() };
  }

  #writeStatus(): void {
    const { paths, from, now } = this.#options;
    try {
      writeStatus(paths, this.status(), now());
      const marker = readStandbyMarker(paths);
      if (this.#state?.phase !== "following" || marker === null || now() < this.#nextMarker) return;
      this.#nextMarker = now() + MARKER_MILLISECONDS;
      writeStandbyMarker(paths, { ...marker, from, appliedAt: this.#lastContactAt, complete: true });
    } catch {
      // A full disk is reported by the connection that it ends.
    }
  }
}
