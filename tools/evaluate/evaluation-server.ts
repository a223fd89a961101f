import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { speechDeviceIn } from "../../harness/device.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import { TestServer } from "../../harness/server.ts";
import { allSegmentsWithWords } from "../../src/recordings/index.ts";
import { openDatabase, type Store } from "../../src/storage/index.ts";
import type { Reference } from "./corpus.ts";
import { concatenate } from "./made-recordings.ts";

/** A recognized word with its times. */
export interface TranscribedWord {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** A segment as the API returns it, with its words. */
interface TranscribedSegment extends NamedTurn {
  readonly text: string;
  readonly words: readonly TranscribedWord[];
}

/** The result of a recording. */
export interface Hypothesis {
  /** `completed`, or the reason of the failure: `no_speech`, `too_short`, `internal`. */
  readonly outcome: string;
  readonly language: string | null;
  readonly segments: readonly TranscribedSegment[];
}

/**
 * A server of this checkout with a data directory of its own, which transcribes one recording after another.
 * The API does not return the times of words, so they are read from the server's database.
 */
export class EvaluationServer implements AsyncDisposable {
  readonly #server: TestServer;
  readonly #timeoutMilliseconds: number | undefined;
  #client: TestClient | null = null;
  #store: Store | null = null;

  /**
   * @param environment additional settings, and variables that name a GPU's driver
   * @param timeoutMilliseconds limit of the start and of each recording; by default the limits of server and client
   */
  constructor(environment: Readonly<Record<string, string>> = {}, timeoutMilliseconds?: number) {
    this.#server = new TestServer({ TRANSCRIBE_LOG_LEVEL: "info", ...environment });
    this.#timeoutMilliseconds = timeoutMilliseconds;
  }

  /** See `speechDeviceIn`. */
  get speechDevice(): unknown {
    return speechDeviceIn(this.#server.log);
  }

  /** Returns the warnings and errors in the server's log, one line each. */
  problems(): string {
    const lines = this.#server.log.filter(({ level }) => level === "warn" || level === "error");
    return lines.map((line) => JSON.stringify(line)).join("\n");
  }

  async start(): Promise<void> {
    await this.#server.start(false);
    await this.#server.until(() => this.speechDevice !== undefined, 50, this.#timeoutMilliseconds);
    this.#client = this.#server.client("evaluate", this.#timeoutMilliseconds);
    this.#store = openDatabase(join(this.#server.dataDirectory, "transcribe.db"));
  }

  /** @param parts text parts of the create's form */
  async transcribe(file: string, parts: Readonly<Record<string, string>> = {}): Promise<Hypothesis> {
    if (this.#client === null || this.#store === null) throw new Error("the server is not running");
    const { ended, segments } = await this.#client.transcribe(file, parts);
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

/** Returns the text of all segments, in order. */
export function textOf({ segments }: Hypothesis): string {
  return segments.map(({ text }) => text).join(" ");
}

/** Length of the warm-up recording. A server does not choose its fastest encoder on shorter recordings. */
const WARM_UP_SECONDS = 300;

/**
 * Transcribes a long recording, so that the server completes its one-time benchmarks.
 * @param directory folder for the recording
 */
export async function warmUp(server: EvaluationServer, corpus: readonly Reference[], directory: string): Promise<void> {
  const parts: string[] = [];
  let seconds = 0;
  for (const { file, durationSeconds } of corpus.filter(({ group, exact }) => group === "dialogue" && exact)) {
    if (seconds >= WARM_UP_SECONDS) break;
    parts.push(file);
    seconds += durationSeconds;
  }
  if (seconds < WARM_UP_SECONDS) return;
  const file = join(directory, "warm-up.flac");
  await concatenate(parts, file);
  await server.transcribe(file);
}
