import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type Auditor,
  createAccount,
  createKey,
  getWorkspace,
  LastUse,
  type NewKey,
  requireAccount,
  Usage,
} from "../../src/accounts/index.ts";
import type { Settings } from "../../src/config/index.ts";
import { createApp, startServer, TranscriptionCreator, transcriptionMapper } from "../../src/http/index.ts";
import { checkRecordingUrl, parseAllowList } from "../../src/media/index.ts";
import { DataDirectory, openDatabase, type Store } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { KeptAnswers, type NewRecording, Recordings, type Segment } from "../../src/transcriptions/index.ts";
import { ffmpegPath } from "../support/checkout.ts";
import { TestClient } from "../support/client.ts";
import { newRecording } from "../support/new-recording.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

export interface ApiServerOptions {
  readonly uploadBytes?: number;
  readonly recordingsPerAccount?: number;
  readonly recordingSeconds?: number;
  readonly fetchEnabled?: boolean;
  readonly limits?: Partial<Settings["limits"]>;
}

const languages = [
  { code: "de", name: "German", whisperCode: "de" },
  { code: "en", name: "English", whisperCode: "en" },
  { code: "jv", name: "Javanese", whisperCode: "jw" },
];

/**
 * The real HTTP server with its store and its files, in this process and without an engine: what is created stays `queued`
 * until a test moves it on.
 */
export class ApiServer implements Disposable {
  readonly store: Store;
  readonly recordings: Recordings;
  readonly queued: string[] = [];
  /** Why the server is not ready; null when it is. */
  trouble: string | null = null;
  /** The server's clock; a test may set it forward. */
  now: () => number = Date.now;
  readonly #directory = temporaryDirectory();
  readonly #server: ReturnType<typeof startServer>;

  constructor(options: ApiServerOptions = {}) {
    const root = join(this.#directory.path, "data");
    mkdirSync(root);
    const dataDirectory = new DataDirectory(root);
    this.store = openDatabase(":memory:");
    this.recordings = new Recordings(this.store, () => this.now());
    const log = createLogger("silent");
    const limits = {
      upload_bytes: options.uploadBytes ?? 10_000_000,
      recording_seconds: options.recordingSeconds ?? 18 * 3600,
      recordings_per_account: options.recordingsPerAccount ?? 5,
      audio_minutes_per_day: 1200,
      // Out of the way of tests that are not about them.
      creates_per_hour: 100_000,
      creates_per_day: 100_000,
      requests_per_minute: 100_000,
      failed_authentications_per_minute: 100_000,
      ...options.limits,
    };
    const now = () => this.now();
    const { store, recordings } = this;
    const usage = new Usage(store);
    const toTranscription = transcriptionMapper((id) => getWorkspace(store, id));
    const creator = new TranscriptionCreator({
      ...{ recordings, usage, dataDirectory, languages, ffmpegPath, limits, toTranscription, now },
      answers: new KeptAnswers(store),
      queue: { add: ({ id }) => this.queued.push(id) },
      fetchEnabled: options.fetchEnabled ?? true,
      checkUrl: (text) => checkRecordingUrl(text, parseAllowList([])),
      refusal: () => this.trouble,
    });
    const app = createApp({
      ...{ store, recordings, dataDirectory, languages, creator, toTranscription, limits, log, now },
      lastUse: new LastUse(store),
      readiness: () => this.trouble,
    });
    this.#server = startServer({
      app,
      host: "127.0.0.1",
      port: 0,
      log,
      now,
    });
  }

  get port(): number {
    return this.#server.port ?? 0;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get baseUrl(): string {
    return `${this.origin}/api/public/v1`;
  }

  /** A client with a new key of that account, which is made when there is none. */
  client(
    account: string,
    values: Partial<NewKey> = {},
  ): TestClient & { readonly keyId: string; readonly accountId: string } {
    const { id: accountId } = this.#account(account);
    const { key, secret } = createKey(
      this.store,
      this.#account(account),
      { name: "test", ...values },
      this.#operator(),
    );
    return Object.assign(new TestClient(this.baseUrl, secret), { keyId: key.id, accountId });
  }

  /** Enters a recording that is being processed. @returns its id */
  enterProcessing(accountId: string, values: Partial<NewRecording> = {}): string {
    const id = Bun.randomUUIDv7();
    this.recordings.create(newRecording(id, accountId, values));
    this.recordings.claim(id);
    return id;
  }

  /** Enters a recording that is completed with segments of one second each. @returns its id */
  enterCompleted(accountId: string, segmentCount: number, values: Partial<NewRecording> = {}): string {
    const id = this.enterProcessing(accountId, values);
    const segments = Array.from({ length: segmentCount }, (_, index): Segment => {
      const word = { text: ` Segment ${index}.`, startSeconds: index, endSeconds: index + 0.9, probability: 0.9 };
      return { index, startSeconds: index, endSeconds: index + 0.9, speaker: 0, text: word.text.trim(), words: [word] };
    });
    this.recordings.complete(id, segments);
    return id;
  }

  /** Files in a folder of the data directory. */
  filesIn(folder: "incoming" | "uploads" | "work"): string[] {
    return readdirSync(join(this.#directory.path, "data", folder));
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
    this.store.$client.close();
    this.#directory[Symbol.dispose]();
  }

  #operator(): Auditor {
    return { actor: "operator", now: this.now() };
  }

  #account(name: string) {
    try {
      return requireAccount(this.store, name);
    } catch {
      return createAccount(this.store, name, this.#operator());
    }
  }
}
