import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { StandbyGate } from "../../harness/standby-gate.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Account, createAccount, findAccount, readAudit, type Workspace } from "../../src/accounts/index.ts";
import type { Settings } from "../../src/config/index.ts";
import { openDatabase, type Store, values } from "../../src/database/index.ts";
import { DiskSpace } from "../../src/disk/index.ts";
import { RecordingIntake } from "../../src/intake/index.ts";
import { Library } from "../../src/library/index.ts";
import {
  type LiveEvent,
  type LiveOptions,
  type LiveSender,
  LiveService,
  type LiveSession,
} from "../../src/live/index.ts";
import { RecordingEvents, Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Metrics } from "../../src/telemetry/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { ScriptedEngine } from "./scripted-engine.ts";

const languages = [
  { code: "de", name: "German", modelCode: "de" },
  { code: "en", name: "English", modelCode: "en" },
];

/** The options of a session whose turns end by silence. */
export const automatic: LiveOptions = {
  format: { encoding: "pcm16", sampleRate: 16_000 },
  language: "en",
  prompt: null,
  turns: { threshold: 0.5, paddingSeconds: 0.3, silenceSeconds: 0.5 },
  keep: true,
  name: null,
};
/** The options of a session whose turns the client ends. */
export const manual: LiveOptions = { ...automatic, turns: null };

/** Events of a session, and waiting for them. */
export class Events {
  readonly all: LiveEvent[] = [];
  readonly listen = (event: LiveEvent) => {
    this.all.push(event);
    for (const check of this.#checks) check();
  };
  readonly #checks = new Set<() => void>();

  of<T extends LiveEvent["type"]>(type: T): Extract<LiveEvent, { type: T }>[] {
    return this.all.filter((event): event is Extract<LiveEvent, { type: T }> => event.type === type);
  }

  /** The text of all final segments. */
  get text(): string {
    return this.of("final")
      .map(({ segment }) => segment.text)
      .join(" ");
  }

  /** Waits until something holds. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (!holds()) return;
      this.#checks.delete(check);
      resolve();
    };
    this.#checks.add(check);
    return promise;
  }

  /** Waits for a number of events of a type. */
  received(type: LiveEvent["type"], count = 1): Promise<void> {
    return this.until(() => this.of(type).length >= count);
  }
}

/** The live sessions of a server with its real store and files, and a scripted engine. The clock stands still. */
export class LiveServer implements AsyncDisposable {
  readonly engine = new ScriptedEngine();
  readonly dataDirectory: DataDirectory;
  readonly log: Record<string, unknown>[] = [];
  /** Ids of recordings that were added to the queue. */
  readonly queued: string[] = [];
  settings: Pick<Settings["live"], "enabled" | "sessions" | "idle_minutes"> = {
    enabled: true,
    sessions: 0,
    idle_minutes: 10,
  };
  limits: Settings["limits"] = {
    ...{ upload_bytes: 10_000_000, recording_seconds: 3600, recordings_per_account: 5, audio_minutes_per_day: 100 },
    live_sessions_per_account: 0,
    ...{ creates_per_hour: 60, creates_per_day: 500, requests_per_minute: 100, failed_authentications_per_minute: 10 },
  };
  places = 4;
  /** Path of the ONNX form of the model's encoder; null if it is not used. */
  encoder: string | null = null;
  /** Reason why the server accepts no work; null if it does. */
  refusal: string | null = null;
  readonly standby = new StandbyGate();
  /** Free bytes of the disk; infinite by default. */
  freeBytes = Number.POSITIVE_INFINITY;
  /** Milliseconds since the epoch, and of the monotonic clock. */
  time = Date.parse("2026-11-29T10:20:30Z");
  readonly metrics = new Metrics({
    version: "",
    refusalCodes: [],
    wyomingErrorCodes: [],
    failures: [],
    liveEnds: values.liveEnds,
    machine: null,
  });
  readonly #directory = temporaryDirectory();
  #parts: ReturnType<LiveServer["start"]>;

  constructor() {
    const root = join(this.#directory.path, "data");
    mkdirSync(root);
    this.dataDirectory = new DataDirectory(root);
    this.#parts = this.start();
  }

  get store(): Store {
    return this.#parts.store;
  }

  get live(): LiveService {
    return this.#parts.live;
  }

  get recordings(): Recordings {
    return this.#parts.recordings;
  }

  get usage(): Usage {
    return this.#parts.usage;
  }

  get events(): RecordingEvents {
    return this.#parts.events;
  }

  account(name = "acme"): Account {
    return findAccount(this.store, name) ?? createAccount(this.store, name, { actor: "operator", now: this.time });
  }

  sender(changes: Partial<LiveSender> & { readonly workspace?: Workspace } = {}): LiveSender {
    const { workspace, ...others } = changes;
    return {
      kind: "application",
      account: this.account(),
      workspaceId: workspace?.id ?? null,
      holder: "key-1",
      requireAccess: () => {},
      ...others,
    };
  }

  /** Opens a session. @returns it with its events */
  open(options: Partial<LiveOptions> = {}, sender = this.sender()): { session: LiveSession; events: Events } {
    const events = new Events();
    return { session: this.live.open(sender, { ...automatic, ...options }, events.listen), events };
  }

  /** Advances the clocks, and runs the checks of each second in between. */
  advance(seconds: number): void {
    for (let second = 0; second < seconds; second++) {
      this.time += 1000;
      this.live.check();
    }
  }

  /** Stops the live sessions and starts them anew on the same data. */
  async restart(): Promise<void> {
    await this.live.stop();
    this.store.$client.close();
    this.#parts = this.start();
  }

  /** Starts anew on the same data, as after a crash: what the earlier process has in memory is lost. */
  restartAfterCrash(): void {
    this.#parts = this.start();
  }

  /** Returns the names in a folder of the data directory. */
  filesIn(folder: "live" | "incoming" | "uploads"): string[] {
    return readdirSync(join(this.dataDirectory.root, folder)).sort();
  }

  /** Returns the number of rows of a table. */
  rows(table: "live_sessions" | "live_segments" | "creates"): number {
    return this.store.$client.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;
  }

  /** Returns the audit log, oldest first. */
  audit() {
    return readAudit(this.store, 100)
      .filter(({ action }) => action.startsWith("live."))
      .reverse()
      .map(({ actor, action, subject, details }) => ({ actor, action, subject, details: JSON.parse(details) }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.live.stop();
    if (existsSync(this.dataDirectory.root)) this.store.$client.close();
    this.#directory[Symbol.dispose]();
  }

  private start() {
    const { dataDirectory } = this;
    const now = () => this.time;
    const store = openDatabase(dataDirectory.databasePath);
    const log = pino({ base: null, level: "debug" }, { write: (line) => void this.log.push(JSON.parse(line)) });
    const recordings = new Recordings(store, now);
    const usage = new Usage(store);
    const diskSpace = new DiskSpace(
      dataDirectory.root,
      () => 0,
      () => this.#disk(),
    );
    const library = new Library({ store, recordings, dataDirectory, usage, now });
    const events = new RecordingEvents(store, log);
    const intake = new RecordingIntake({
      ...{ recordings, usage, library, diskSpace, now },
      limits: () => this.limits,
      queue: { add: ({ id }) => void this.queued.push(id) },
      probe: () => Promise.reject(new Error("a session's sound is not probed")),
      refusal: () => this.refusal,
    });
    const model = { id: "whisper-base", path: "/models/base" };
    const live = new LiveService({
      ...{ store, usage, intake, events, dataDirectory, diskSpace, log, now },
      changes: this.standby,
      engine: this.engine,
      models: {
        current: () => model,
        companionOf: () => null,
        routes: () => [],
        languagesOf: () => languages,
        knownEncoderOf: async () => this.encoder,
      },
      settings: () => this.settings,
      limits: () => this.limits,
      measuredPlaces: () => this.places,
      metrics: this.metrics.live,
      clock: now,
    });
    live.start();
    return { store, recordings, usage, events, live };
  }

  #disk() {
    const free = Math.min(this.freeBytes, 1e15);
    return { type: 0, bsize: 1, blocks: 1e15, bfree: free, bavail: free, files: 0, ffree: 0, frsize: 1 };
  }
}
