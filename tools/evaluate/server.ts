import { join } from "node:path";
import type { TestClient } from "../../harness/client.ts";
import { type Device, speechDeviceIn } from "../../harness/device.ts";
import { newServer, PATIENCE_MILLISECONDS, patientClient } from "../../harness/measured-server.ts";
import type { NamedTurn } from "../../harness/rttm.ts";
import type { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { Transcript, Translation } from "../../src/transcripts/index.ts";
import { concatenate, type Reference } from "../corpus/index.ts";
import { CommandError } from "../shared/run-command.ts";

export interface TranscribedWord {
  readonly text: string;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

interface TranscribedSegment extends NamedTurn {
  readonly text: string;
  readonly isSpeakerUncertain?: boolean;
  readonly words: readonly TranscribedWord[];
}

export interface Hypothesis {
  /** `completed`, or the reason of the failure: `no_speech`, `too_short`, `internal`. */
  readonly outcome: string;
  readonly language: string | null;
  readonly segments: readonly TranscribedSegment[];
}

/** Returns the text of all segments, in order. */
export function textOf({ segments }: Hypothesis): string {
  return segments.map(({ text }) => text).join(" ");
}

/**
 * A server of this checkout with a data directory of its own, which transcribes one recording after another.
 * The API returns neither the times of words nor uncertain speakers, so they are read from the server's database.
 */
export class EvaluationServer implements AsyncDisposable {
  readonly #server: TestServer;
  readonly #client: TestClient;
  readonly #device: Device | null;

  private constructor(server: TestServer, device: Device | null) {
    this.#server = server;
    this.#client = patientClient(server);
    this.#device = device;
  }

  /**
   * Starts a server. On a CPU it transcribes a long recording, so that it completes its one-time benchmarks.
   * @param device null to let the server choose its device
   * @throws {CommandError} when the server uses another device
   */
  static async start(
    corpus: readonly Reference[],
    device: Device | null,
    settings: Readonly<Record<string, string>>,
  ): Promise<EvaluationServer> {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(newServer({ ...device?.environment, ...settings }));
    await server.start(false);
    await server.until(() => speechDeviceIn(server.log) !== undefined, 50, PATIENCE_MILLISECONDS);
    const started = new EvaluationServer(server, device);
    started.#requireDevice();
    if (device === null || device.speechDevice === "cpu") await started.#warmUp(corpus);
    stack.move();
    return started;
  }

  /**
   * @param fields text parts of the create's form
   * @throws {CommandError} when the server uses another device after a failure
   */
  async transcribe(file: string, fields: Readonly<Record<string, string>> = {}): Promise<Hypothesis> {
    const { ended, segments } = await this.#client.transcribe(file, fields);
    this.#requireDevice();
    const store = openDatabase(join(this.#server.dataDirectory, "transcribe.db"));
    const recording = new Recordings(store, Date.now).get(ended.id);
    const stored = recording === null ? [] : new Transcript(store, recording).allSegments();
    const known = new Map([...stored].map((segment) => [segment.index, segment]));
    store.$client.close();
    return {
      outcome: ended.failure_reason ?? ended.status,
      language: ended.language,
      segments: segments.map(({ index, start, end, speaker, text }) => ({
        ...{ startSeconds: start, endSeconds: end, speaker, text },
        isSpeakerUncertain: known.get(index)?.isSpeakerUncertain ?? false,
        words: (known.get(index)?.words ?? []).map(([word, from, to]) => {
          return { text: word, startSeconds: from / 1000, endSeconds: to / 1000 };
        }),
      })),
    };
  }

  /** Returns the translation of a recording to English, as one text. @throws {CommandError} as `transcribe` */
  async translate(file: string): Promise<string> {
    const { ended } = await this.#client.transcribe(file, { task: "translate" });
    this.#requireDevice();
    const store = openDatabase(join(this.#server.dataDirectory, "transcribe.db"));
    const recording = new Recordings(store, Date.now).get(ended.id);
    const segments = recording === null ? [] : [...new Translation(store, recording).allSegments()];
    store.$client.close();
    return segments.map(({ text }) => text).join(" ");
  }

  #requireDevice(): void {
    const used = speechDeviceIn(this.#server.log);
    if (this.#device === null || used === this.#device.speechDevice) return;
    const problems = this.#server.log.filter(({ level }) => level === "warn" || level === "error");
    const lines = problems.map((line) => JSON.stringify(line)).join("\n");
    const reason = lines || "transcribe doctor shows the state of the GPUs";
    throw new CommandError(`the server uses ${used}, not ${this.#device.speechDevice}; ${reason}`);
  }

  /** A server does not choose its fastest encoder on recordings that are shorter than five minutes. */
  async #warmUp(corpus: readonly Reference[]): Promise<void> {
    const parts: string[] = [];
    let missingSeconds = 300;
    for (const { file, durationSeconds } of corpus.filter(({ group, exact }) => group === "dialogue" && exact)) {
      if (missingSeconds <= 0) break;
      parts.push(file);
      missingSeconds -= durationSeconds;
    }
    if (missingSeconds > 0) return;
    using folder = temporaryDirectory();
    const file = join(folder.path, "warm-up.flac");
    await concatenate(parts, file);
    await this.transcribe(file);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}
