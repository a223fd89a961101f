import { join } from "node:path";
import { allSegmentsWithWords } from "../../../src/recordings/index.ts";
import { openDatabase, type Store } from "../../../src/storage/index.ts";
import type { TestClient } from "../../../test/support/client.ts";
import type { NamedTurn } from "../../../test/support/rttm.ts";
import { TestServer } from "../../../test/support/server.ts";

/** A word as the server keeps it beside its segment. */
export interface HeardWord {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** A segment as the API gives it, with its words. */
export interface HeardSegment extends NamedTurn {
  readonly text: string;
  readonly words: readonly HeardWord[];
}

/** What became of a recording. */
export interface Hypothesis {
  /** `completed`, or why it failed: `no_speech`, `too_short`, `internal`. */
  readonly outcome: string;
  readonly language: string | null;
  readonly segments: readonly HeardSegment[];
}

/**
 * Sends recordings to a server of this checkout as anybody would, one after another, with a data directory of its own.
 * Words have times in the server's database only: they are read there.
 */
export class Appliance implements AsyncDisposable {
  readonly #server: TestServer;
  readonly #patienceMilliseconds: number | undefined;
  #client: TestClient | null = null;
  #store: Store | null = null;

  /**
   * @param environment further settings, and variables that name a GPU's driver
   * @param patienceMilliseconds for a start, and for a recording; a server's and a client's own by default
   */
  constructor(environment: Readonly<Record<string, string>> = {}, patienceMilliseconds?: number) {
    this.#server = new TestServer({ TRANSCRIBE_LOG_LEVEL: "info", ...environment });
    this.#patienceMilliseconds = patienceMilliseconds;
  }

  /** What whisper has computed on since the last start of a worker: `cpu`, `vulkan` or `cuda`. */
  get speechDevice(): unknown {
    return this.#server.log.findLast(({ event }) => event === "engine.ready")?.speechDevice;
  }

  /** What the server's log has of warnings and errors, a line each. */
  trouble(): string {
    const lines = this.#server.log.filter(({ level }) => level === "warn" || level === "error");
    return lines.map((line) => JSON.stringify(line)).join("\n");
  }

  async start(): Promise<void> {
    await this.#server.start(false);
    await this.#server.until(() => this.speechDevice !== undefined, 50, this.#patienceMilliseconds);
    this.#client = this.#server.client("evaluate", this.#patienceMilliseconds);
    this.#store = openDatabase(join(this.#server.dataDirectory, "transcribe.db"));
  }

  /** @param fields further parts of the form, e.g. `language` */
  async transcribe(file: string, fields: Readonly<Record<string, string>> = {}): Promise<Hypothesis> {
    if (this.#client === null || this.#store === null) throw new Error("the server does not run");
    const { ended, segments } = await this.#client.transcribe(file, fields);
    const words = new Map(
      [...allSegmentsWithWords(this.#store, ended.id)].map((segment) => [segment.index, segment.words]),
    );
    return {
      outcome: ended.failure_reason ?? ended.status,
      language: ended.language,
      segments: segments.map(({ index, start, end, speaker, text }) => ({
        ...{ startSeconds: start, endSeconds: end, speaker, text },
        words: (words.get(index) ?? []).map(([word, from, to]) => {
          return { text: word, startSeconds: from / 1000, endSeconds: to / 1000 };
        }),
      })),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#store?.$client.close();
    await this.#server[Symbol.asyncDispose]();
  }
}

/** What was heard, in order. */
export function textOf({ segments }: Hypothesis): string {
  return segments.map(({ text }) => text).join(" ");
}
