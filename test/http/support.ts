import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createAccount, createKey, requireAccount } from "../../src/accounts/index.ts";
import { createApp, createTranscriptionWith, startServer } from "../../src/http/index.ts";
import { DataDirectory, openDatabase, type Store } from "../../src/storage/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { Recordings, type Segment } from "../../src/transcriptions/index.ts";
import { ffmpegPath } from "../support/checkout.ts";
import { TestClient } from "../support/client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

export interface ApiServerOptions {
  readonly uploadBytes?: number;
  readonly recordingsPerAccount?: number;
  readonly recordingSeconds?: number;
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
  readonly #directory = temporaryDirectory();
  readonly #server: ReturnType<typeof startServer>;

  constructor(options: ApiServerOptions = {}) {
    const root = join(this.#directory.path, "data");
    mkdirSync(root);
    const dataDirectory = new DataDirectory(root);
    this.store = openDatabase(":memory:");
    this.recordings = new Recordings(this.store, Date.now);
    const log = createLogger("silent");
    const limits = {
      upload_bytes: options.uploadBytes ?? 10_000_000,
      recording_seconds: options.recordingSeconds ?? 18 * 3600,
      recordings_per_account: options.recordingsPerAccount ?? 5,
    };
    const createTranscription = createTranscriptionWith({
      recordings: this.recordings,
      queue: { add: (id) => this.queued.push(id) },
      dataDirectory,
      languages,
      ffmpegPath,
      limits,
    });
    const app = createApp({
      store: this.store,
      recordings: this.recordings,
      languages,
      createTranscription,
      log,
      readiness: () => this.trouble,
    });
    this.#server = startServer({
      app,
      host: "127.0.0.1",
      port: 0,
      log,
      now: Date.now,
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
  client(account: string): TestClient & { readonly keyId: string; readonly accountId: string } {
    const { id: accountId } = this.#account(account);
    const { key, secret } = createKey(this.store, this.#account(account), "test", Date.now());
    return Object.assign(new TestClient(this.baseUrl, secret), { keyId: key.id, accountId });
  }

  /** Enters a recording that is being processed. @returns its id */
  enterProcessing(accountId: string): string {
    const id = Bun.randomUUIDv7();
    this.recordings.create({ id, accountId, pinnedLanguage: null, sourceName: "talk", sizeBytes: 1000 });
    this.recordings.claim(id);
    return id;
  }

  /** Enters a recording that is completed with segments of one second each. @returns its id */
  enterCompleted(accountId: string, segmentCount: number): string {
    const id = this.enterProcessing(accountId);
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

  #account(name: string) {
    try {
      return requireAccount(this.store, name);
    } catch {
      return createAccount(this.store, name, Date.now());
    }
  }
}
