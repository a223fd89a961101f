import { mkdirSync, readdirSync, readFileSync, type StatsFs } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { ffmpegPath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { newRecording } from "../../harness/new-recording.ts";
import { StandbyGate } from "../../harness/standby-gate.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  type Account,
  type Auditor,
  createAccount,
  createWorkspace,
  requireAccount,
  type Workspace,
} from "../../src/accounts/index.ts";
import { parseAllowList, parseNetworks } from "../../src/addresses/index.ts";
import type { Settings } from "../../src/config/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { DiskSpace } from "../../src/disk/index.ts";
import { ExportMaker } from "../../src/exports/index.ts";
import type { AppOptions } from "../../src/http/app.ts";
import {
  createSurfaces,
  ExportAnswers,
  parseHostNames,
  parseOrigins,
  type Surface,
  startServer,
  TranscriptionCreator,
} from "../../src/http/index.ts";
import { clientOf } from "../../src/http/shared/client.ts";
import type { PaceLimits } from "../../src/http/shared/upload/index.ts";
import { RecordingIntake } from "../../src/intake/index.ts";
import { createKey, KeyUsage } from "../../src/keys/index.ts";
import { Library, removeAccount } from "../../src/library/index.ts";
import { checkRecordingUrl, probeRecording } from "../../src/media/index.ts";
import type { RecordingQueue } from "../../src/queue/index.ts";
import { newRecordingId, RecordingEvents, Recordings } from "../../src/recordings/index.ts";
import { SearchIndexer } from "../../src/search/index.ts";
import type { Segment } from "../../src/segments/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { ScriptedSessions } from "./live.ts";
import { metricsWithoutEngine } from "./metrics-without-engine.ts";

export interface ApiServerOptions {
  /** The disk as the server sees it, and the bytes that creates leave free. */
  readonly disk?: { readonly look: () => StatsFs; readonly reserveBytes: number };
  readonly uploadBytes?: number;
  readonly recordingsPerAccount?: number;
  readonly recordingSeconds?: number;
  readonly fetchEnabled?: boolean;
  readonly trustedProxies?: readonly string[];
  readonly hosts?: readonly string[];
  readonly origins?: readonly string[];
  readonly limits?: Partial<Settings["limits"]>;
  /** Creates the handler of the paths outside the API, again after each restart. */
  readonly surfaces?: (
    options: AppOptions & { readonly recordings: Recordings; readonly dataDirectory: DataDirectory },
    usage: Usage,
  ) => readonly Surface[];
  /** Replaces the probe with the checkout's ffmpeg. */
  readonly probe?: (path: string) => ReturnType<typeof probeRecording>;
  /** Replaces the contract's limits for slow uploads. */
  readonly pace?: PaceLimits;
  /** Replaces the time after which a WebSocket that answers no ping is closed; 8 or more. */
  readonly silentSeconds?: number;
}

/** The client of a request from an address, without trusted proxies. */
export function clientAt(address: string, headers: Record<string, string> = {}) {
  return clientOf(address, new Headers(headers), parseNetworks([]));
}

/** A client with its own key. */
export type KeyClient = TestClient & { readonly keyId: string; readonly accountId: string };

const languages = [
  { code: "de", name: "German", modelCode: "de" },
  { code: "en", name: "English", modelCode: "en" },
  { code: "jv", name: "Javanese", modelCode: "jw" },
];

/**
 * The real HTTP server with its store and its files, in this process and without an engine. A created recording stays
 * `queued` until a test changes its status.
 */
export class ApiServer implements Disposable {
  readonly queued: string[] = [];
  /** All log entries. */
  readonly log: Record<string, unknown>[] = [];
  readonly standby = new StandbyGate();
  /** The options of the application, with which a test may create another one. */
  appOptions!: AppOptions;
  /** The routes of all surfaces, `GET /path`. */
  routes!: readonly string[];
  /** The current limits. A test may replace them, as a reload of the settings does. */
  limits!: Settings["limits"];
  /** Reason why the server is not ready; null if it is. */
  trouble: string | null = null;
  /** Warning of a server that is ready; null if there is none. */
  warning: string | null = null;
  /** Called when a created recording is added to the queue. A test may throw here. */
  onQueued: () => void = () => {};
  /** Called when a request asks the queue to look at recordings that were ended. */
  onFollow: () => void = () => {};
  /** Publishes the end of recordings, which this server does not process. */
  events!: RecordingEvents;
  /** The settings of the APIs for existing clients. A test may replace them. */
  compat: Settings["compat"] = {
    ...{ openai: true, max_wait_seconds: 3600, keep: false, keep_abandoned: false },
    ...{ asr: true, asr_key_account: "", asr_networks: [] },
  };
  /** Whether reads of transcripts are recorded. A test may switch it on. */
  auditsReads = false;
  /** The live sessions, which do what a test says. */
  readonly live = new ScriptedSessions();
  /** Aborted by a test when the server stops. */
  stopping = new AbortController();
  /** The speech model in use. A test may replace it. */
  speechModel = { id: "whisper-base", languages };
  /** Why the model in use cannot translate; null if it can. */
  translationRefusal: string | null = null;
  /** The texts that name the authors of installed models. */
  attributions: string[] = [];
  /** The server's clock. A test may advance it. */
  now: () => number = Date.now;
  readonly dataDirectory: DataDirectory;
  readonly #options: ApiServerOptions;
  readonly #directory = temporaryDirectory();
  #parts: ReturnType<ApiServer["start"]>;

  constructor(options: ApiServerOptions = {}) {
    this.#options = options;
    const root = join(this.#directory.path, "data");
    mkdirSync(root);
    this.dataDirectory = new DataDirectory(root);
    this.#parts = this.start(0);
  }

  get store(): Store {
    return this.#parts.store;
  }

  get recordings(): Recordings {
    return this.#parts.recordings;
  }

  get usage(): Usage {
    return this.#parts.usage;
  }

  get port(): number {
    return this.#parts.server.port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/api/public/v1`;
  }

  /** Stops the server and starts another on its database and its port. Data in memory is lost. */
  async restart(): Promise<void> {
    const { port } = this;
    await this.#parts.server.stop(true);
    await this.#parts.searchIndexer.stop();
    this.store.$client.close();
    this.#parts = this.start(port);
  }

  /** Advances the clock and stops it there. */
  advance(milliseconds: number): void {
    const now = this.now() + milliseconds;
    this.now = () => now;
  }

  /** Returns a client with a new key of an account, which is created if necessary. */
  client(account: string, values: Partial<Parameters<typeof createKey>[2]> = {}): KeyClient {
    const { id: accountId } = this.account(account);
    const { key, secret } = createKey(this.store, this.account(account), { name: "test", ...values }, this.operator());
    return Object.assign(new TestClient(this.baseUrl, secret), { keyId: key.id, accountId });
  }

  /** Creates a workspace of an account. */
  workspace(account: string, name: string): Workspace {
    return createWorkspace(this.store, this.account(account), name, this.operator());
  }

  /** Enters a queued recording. @returns its id */
  enterQueued(accountId: string, values: Partial<Parameters<Recordings["create"]>[0]> = {}): string {
    const id = newRecordingId(this.now());
    return this.recordings.create(newRecording(id, accountId, values)).id;
  }

  /** Enters a recording that is processing. @returns its id */
  enterProcessing(accountId: string, values: Partial<Parameters<Recordings["create"]>[0]> = {}): string {
    const id = this.enterQueued(accountId, values);
    this.recordings.claim(id);
    return id;
  }

  /** Removes an account as the operator's command does. */
  async removeAccount(account: Account): Promise<void> {
    const { store, recordings, dataDirectory } = this;
    const services = { store, recordings, dataDirectory, now: () => this.now() };
    await removeAccount(services, { kind: "operator", actor: "operator" }, account);
  }

  /** Returns the ids of an account's recordings, including those of which nothing is kept. */
  idsOf(accountId: string): string[] {
    return this.recordings.list({ accountId, includesTransient: true }, 1_000_000).map(({ id }) => id);
  }

  /** Enters a completed recording with segments of one second each. @returns its id */
  enterCompleted(
    accountId: string,
    segmentCount: number,
    values: Partial<Parameters<Recordings["create"]>[0]> = {},
  ): string {
    const id = this.enterProcessing(accountId, values);
    const segments = Array.from({ length: segmentCount }, (_, index): Segment => {
      const word = { text: ` Segment ${index}.`, startSeconds: index, endSeconds: index + 0.9, probability: 0.9 };
      return { index, startSeconds: index, endSeconds: index + 0.9, speaker: 0, text: word.text.trim(), words: [word] };
    });
    this.recordings.complete(id, segments);
    return id;
  }

  /** Enters a failed recording. @returns its id */
  enterFailed(accountId: string, values: Partial<Parameters<Recordings["create"]>[0]> = {}): string {
    const id = this.enterQueued(accountId, values);
    this.recordings.fail(id, { reason: "internal", cause: "fetch_blocked_address" });
    return id;
  }

  /** Returns the names of the files in a folder of the data directory. */
  filesIn(folder: "incoming" | "uploads" | "work"): string[] {
    return readdirSync(join(this.dataDirectory.root, folder));
  }

  /** Returns the names of the files of the data directory, at any depth, that contain a text. */
  filesHolding(text: string): string[] {
    const files = readdirSync(this.dataDirectory.root, { recursive: true, withFileTypes: true });
    return files
      .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(text))
      .map((entry) => entry.name);
  }

  /** Sends raw bytes and returns what arrives until the server closes or has sent `answers` answers. */
  async raw(bytes: string | Uint8Array, answers = 1): Promise<string> {
    let received = "";
    const done = Promise.withResolvers<void>();
    let rest = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    const send = (to: { write(bytes: Uint8Array): number }) => {
      rest = rest.subarray(Math.max(0, to.write(rest)));
    };
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: this.port,
      socket: {
        data: (_, piece) => {
          received += piece.toString();
          if (received.split("HTTP/1.1 ").length > answers) done.resolve();
        },
        close: () => done.resolve(),
        drain: send,
      },
    });
    send(socket);
    await done.promise;
    socket.terminate();
    return received;
  }

  [Symbol.dispose](): void {
    void this.#parts.server.stop(true);
    void this.#parts.searchIndexer.stop();
    this.appOptions.exports.close();
    this.store.$client.close();
    this.#directory[Symbol.dispose]();
  }

  operator(): Auditor {
    return { actor: "operator", now: this.now() };
  }

  /** Returns the account of a name, which is created if necessary. */
  account(name: string) {
    try {
      return requireAccount(this.store, name);
    } catch {
      return createAccount(this.store, name, this.operator());
    }
  }

  private start(port: number) {
    const { dataDirectory } = this;
    const options = this.#options;
    const store = openDatabase(dataDirectory.databasePath);
    const now = () => this.now();
    const recordings = new Recordings(store, now);
    const log = pino({ base: null }, { write: (line) => void this.log.push(JSON.parse(line)) });
    this.limits = {
      upload_bytes: options.uploadBytes ?? 10_000_000,
      recording_seconds: options.recordingSeconds ?? 18 * 3600,
      recordings_per_account: options.recordingsPerAccount ?? 5,
      live_sessions_per_account: 0,
      audio_minutes_per_day: 1200,
      // High enough for tests of other limits.
      creates_per_hour: 100_000,
      creates_per_day: 100_000,
      requests_per_minute: 100_000,
      failed_authentications_per_minute: 100_000,
      ...options.limits,
    };
    const limits = () => this.limits;
    const usage = new Usage(store);
    const diskSpace = new DiskSpace(dataDirectory.root, () => options.disk?.reserveBytes ?? 0, options.disk?.look);
    const isDeleted = (id: string) => recordings.get(id) === null;
    const exports = new ExportAnswers({ isDeleted, maker: new ExportMaker({ dataDirectory, diskSpace }), now });
    const endExports = () => exports.removeDeleted();
    const auditsReads = () => this.auditsReads;
    const library = new Library({ store, recordings, dataDirectory, usage, endExports, auditsReads, now });
    const metrics = metricsWithoutEngine({ recordings, dataPaths: dataDirectory, now });
    const events = new RecordingEvents(store, log);
    this.events = events;
    const queue: AppOptions["queue"] & Pick<RecordingQueue, "add"> = {
      add: ({ id }) => {
        this.onQueued();
        this.queued.push(id);
      },
      followCommands: () => this.onFollow(),
    };
    const intake = new RecordingIntake({
      ...{ recordings, library, usage, limits, now, diskSpace, queue },
      probe: options.probe ?? ((path) => probeRecording(ffmpegPath, path)),
      refusal: () => this.trouble,
    });
    const creator = new TranscriptionCreator({
      ...{ store, intake, dataDirectory, limits, now, metrics },
      speechModel: () => this.speechModel,
      translationRefusal: () => this.translationRefusal,
      fetchEnabled: () => options.fetchEnabled ?? true,
      checkUrl: (text) => checkRecordingUrl(text, parseAllowList([])),
      ...(options.pace === undefined ? {} : { pace: options.pace }),
    });
    events.onEnded("waiting requests", () => intake.limits.serveWaiting());
    const searchIndexer = new SearchIndexer({ store, log });
    events.onEnded("search index", ({ id }) => searchIndexer.add(id));
    this.appOptions = {
      ...{ store, recordings, library, creator, exports, limits, log, metrics, now, searchIndexer },
      languages: () => this.speechModel.languages,
      live: this.live,
      ...{
        usage,
        events,
        queue,
        compat: () => this.compat,
        asrNetworks: () => parseNetworks(this.compat.asr_networks),
        stopping: this.stopping.signal,
        changes: this.standby,
      },
      models: {
        current: () => this.speechModel,
        installed: () => [{ id: this.speechModel.id, createdAt: 1_700_000_000_000 }],
        find: (id) => (id === this.speechModel.id ? this.speechModel : null),
        translationRefusal: () => this.translationRefusal,
      },
      metricsRemote: () => false,
      metricsToken: () => null,
      wantedWorkers: () => null,
      origins: () => parseOrigins(this.#options.origins ?? []),
      attributions: () => this.attributions,
      lastUse: new KeyUsage(store),
      readiness: () => this.trouble ?? diskSpace.shortage(0, "intake"),
      warning: () => this.warning,
      secure: false,
    };
    const more = options.surfaces?.({ ...this.appOptions, recordings, dataDirectory }, usage) ?? [];
    const proxies = parseNetworks(options.trustedProxies ?? []);
    const hosts = parseHostNames(options.hosts ?? []);
    const surfaces = createSurfaces({ ...this.appOptions, surfaces: more });
    this.routes = surfaces.routes;
    const server = startServer({
      surfaces,
      host: "127.0.0.1",
      port,
      proxies: () => proxies,
      hosts: () => hosts,
      pause: () => null,
      changes: this.standby,
      credentials: null,
      ...(options.silentSeconds === undefined ? {} : { silentSeconds: options.silentSeconds }),
      log,
      metrics,
      now,
    });
    return { store, recordings, usage, server, searchIndexer };
  }
}
