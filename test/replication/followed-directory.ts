import { Database } from "bun:sqlite";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Duplex, duplexPair } from "node:stream";
import { pino } from "pino";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { type FollowedState, follow } from "../../src/replication/follower.ts";
import { StandbySource } from "../../src/replication/source.ts";
import { DataDirectory } from "../../src/storage/index.ts";

/** A server's data directory without the server, and a standby's that follows it in this process. */
export class FollowedDirectory implements AsyncDisposable {
  readonly #temporary = temporaryDirectory();
  readonly server = new DataDirectory(join(this.#temporary.path, "server"));
  readonly standby = new DataDirectory(join(this.#temporary.path, "standby"));
  store: Store = openDatabase(this.server.databasePath);
  source: StandbySource;
  maxLogBytes = 2 ** 30;
  /** Milliseconds that the clock of the source is ahead. */
  ahead = 0;
  /** Bytes that the server has sent to the standby. */
  sentBytes = 0;
  readonly #knowsAudio: boolean;
  #connection: { stop(): void; readonly ended: Promise<unknown> } | null = null;

  /** @param knowsAudio whether audio is stored through `server.audio` alone */
  constructor(knowsAudio = false) {
    this.#knowsAudio = knowsAudio;
    this.store.$client.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text BLOB)");
    this.source = this.#newSource();
  }

  #newSource(): StandbySource {
    return new StandbySource({
      paths: this.server,
      maxLogBytes: () => this.maxLogBytes,
      knowsAudio: this.#knowsAudio,
      maxAudioWait: () => null,
      log: pino({ level: "silent" }),
      now: () => Date.now() + this.ahead,
    });
  }

  /** Stops the server, and starts it again. @param whileStopped called in between */
  async restart(whileStopped: () => void = () => {}): Promise<void> {
    await this.source.finish();
    this.source.stop();
    await this.ended();
    this.store.$client.close();
    whileStopped();
    this.store = openDatabase(this.server.databasePath);
    this.source = this.#newSource();
    this.source.hold();
  }

  /**
   * Begins to follow.
   * @param cutAfter bytes of the server after which the connection breaks
   * @param bytesPerSecond speed of the network from the server to the standby
   */
  connect(cutAfter = Number.POSITIVE_INFINITY, bytesPerSecond = Number.POSITIVE_INFINITY): void {
    const [ours, theirs] = duplexPair();
    if (bytesPerSecond < Number.POSITIVE_INFINITY) slowDown(theirs, bytesPerSecond);
    const stopping = new AbortController();
    const state = { current: null as FollowedState | null };
    let left = cutAfter;
    const write = theirs.write.bind(theirs);
    theirs.write = (chunk: Buffer, ...rest: []) => {
      this.sentBytes += chunk.length;
      left -= chunk.length;
      if (left < 0) {
        theirs.destroy();
        return false;
      }
      return write(chunk, ...rest);
    };
    const served = this.source.serve(theirs, "test").finally(() => ours.destroy());
    const followed = follow(ours, {
      paths: this.standby,
      onState: (next) => {
        state.current = next;
      },
      onContact: () => {},
      onDatabase: () => {},
      signal: stopping.signal,
    }).catch((error: unknown) => error);
    this.#connection = { stop: () => stopping.abort(), ended: Promise.all([followed, served]).then(([why]) => why) };
  }

  /** Waits for the end of the connection. @returns why the standby ended it */
  async ended(): Promise<unknown> {
    return await this.#connection?.ended;
  }

  async disconnect(): Promise<void> {
    this.#connection?.stop();
    await this.ended();
  }

  /** Waits until the standby has everything. */
  async confirmed(): Promise<void> {
    for (let attempts = 0; attempts < 1000; attempts++) {
      if (await this.source.confirmation()) return;
      await Bun.sleep(10);
    }
    throw new Error("the standby does not confirm anything");
  }

  write(text: string | Uint8Array): void {
    this.store.$client.run("INSERT INTO notes (text) VALUES (?)", [text]);
  }

  /** Opens a copy of the standby's database, as a takeover does, and returns the notes in it. */
  notes(): string[] {
    const path = join(this.#temporary.path, "opened");
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    for (const name of readdirSync(this.standby.root).filter((each) => each.startsWith("transcribe.db"))) {
      cpSync(join(this.standby.root, name), join(path, name));
    }
    using opened = new Database(join(path, "transcribe.db"), { readwrite: true });
    const check = opened.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get()?.integrity_check;
    if (check !== "ok") throw new Error(`the copy is damaged: ${check}`);
    return opened
      .query<{ text: string | Uint8Array }, []>("SELECT text FROM notes ORDER BY id")
      .all()
      .map(({ text }) => (typeof text === "string" ? text : `${text.length} bytes`));
  }

  /** Returns the pages of both databases, once the standby has everything and the log is in the files. */
  async files(): Promise<{ readonly server: Buffer; readonly standby: Buffer }> {
    await this.confirmed();
    await this.source.emptyLog();
    await this.confirmed();
    return { server: readFileSync(this.server.databasePath), standby: readFileSync(this.standby.databasePath) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
    this.source.stop();
    this.store.$client.close();
    this.#temporary[Symbol.dispose]();
  }
}

/** Bytes that a slow network takes before the sender must wait. */
const BUFFER_BYTES = 64 * 1024;

/** Lets a stream take a number of bytes per second. */
function slowDown(stream: Duplex, bytesPerSecond: number): void {
  const write = stream.write.bind(stream);
  let waiting = Promise.resolve();
  let bytes = 0;
  stream.write = (chunk: Buffer) => {
    bytes += chunk.length;
    waiting = waiting.then(async () => {
      await Bun.sleep((chunk.length / bytesPerSecond) * 1000);
      if (!stream.destroyed) write(chunk);
      bytes -= chunk.length;
      if (bytes < BUFFER_BYTES) stream.emit("drain");
    });
    return bytes < BUFFER_BYTES;
  };
}
