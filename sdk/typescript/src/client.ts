import { Editing } from "./editing.ts";
import { ApiError, StillProcessingError, TranscriptionFailedError } from "./errors.ts";
import { type LiveOptions, LiveSession } from "./live/session.ts";
import { Operations } from "./operations.ts";
import { allOf } from "./pages.ts";
import { RecordingFile, type RecordingInput, randomId } from "./recording-file.ts";
import type { Clock } from "./retries.ts";
import { type CallOptions, type ClientOptions, type Download, Transport, type UploadOptions } from "./transport.ts";
import type {
  ExportFormat,
  ExportTranscriptionAsParameters,
  FileFormat,
  Language,
  ListedTranscription,
  ListTranscriptionsParameters,
  Segment,
  Transcription,
  TranscriptionForm,
} from "./types.ts";

const FIRST_PAUSE_SECONDS = 10;
const SHORT_PAUSE_SECONDS = 5;
const MAX_PAUSE_SECONDS = 30;
/** Length of a recording from which the pauses between polls grow. */
const LONG_RECORDING_SECONDS = 600;
const MAX_PAGE_SIZE = 100;
const MAX_SEGMENT_PAGE_SIZE = 1000;
/** Maximum number of times that an upload is sent again because it arrived damaged. */
const MAX_DAMAGED_UPLOADS = 2;

/** The form of an export: speakers, and the size of subtitles. */
export type ExportLayout = Omit<ExportTranscriptionAsParameters, "if_none_match" | "request_id">;

/** Options of a create: the hints of the API, and the call's. */
export interface CreateOptions extends Omit<TranscriptionForm, "file" | "url">, UploadOptions {
  /** The file's name, if it is not the recording's own. */
  readonly name?: string | undefined;
  /** Default: a new key. A key of your own also protects a create that is repeated after a restart of your program. */
  readonly idempotencyKey?: string | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Seconds between polls, in place of the recommended pauses; or a function that returns them before each poll. */
  readonly pollSeconds?: number | ((recommendedSeconds: number) => number) | undefined;
  /** Called with each polled state. */
  readonly onProgress?: ((transcription: Transcription) => void) | undefined;
}

export interface TranscribeOptions extends CreateOptions, WaitOptions {
  /** Whether the segments have their words. */
  readonly words?: boolean | undefined;
}

/** A client of one server with one key. Requests are retried as the API recommends. */
export class Client {
  /** The operations of the API, one request each, with the same retries. */
  readonly operations: Operations;
  /** Changes of recordings and transcripts. */
  readonly editing: Editing;
  readonly #transport: Transport;
  readonly #clock: Clock;

  /** @throws {TypeError} when the address or the key is malformed */
  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.operations = new Operations(transport);
    this.editing = new Editing(this.operations, transport);
    this.#transport = transport;
    this.#clock = transport.clock;
  }

  /**
   * Uploads a recording, or sends its link, waits until it has ended, and returns its transcript.
   * @param recording a path, a File, a Blob or bytes; or an http(s) link, which the server downloads
   * @throws {TranscriptionFailedError} @throws {StillProcessingError} @throws {ApiError} @throws {NoAnswerError}
   */
  async transcribe(
    recording: RecordingInput,
    { words, pollSeconds, onProgress, ...create }: TranscribeOptions = {},
  ): Promise<{ transcription: Transcription; segments: Segment[] }> {
    const { signal, timeoutSeconds, onPause } = create;
    const call = { signal, timeoutSeconds, onPause };
    const { id } = await this.create(recording, create);
    const transcription = await this.wait(id, { pollSeconds, onProgress, ...call });
    const segments: Segment[] = [];
    for await (const segment of this.segments(id, { words, ...call })) segments.push(segment);
    return { transcription, segments };
  }

  /**
   * Creates a transcription. All attempts have the same Idempotency-Key, so that there is only one recording. After an
   * upload that arrived damaged, a new key is used, unless it is yours: the server remembers the answer to the old key.
   */
  async create(
    recording: RecordingInput,
    { name, idempotencyKey, signal, timeoutSeconds, onPause, verify, onUpload, ...hints }: CreateOptions = {},
  ): Promise<Transcription> {
    const source = isLink(recording) ? { url: String(recording) } : { file: new RecordingFile(recording, name) };
    const call = { signal, timeoutSeconds, onPause, verify, onUpload };
    for (let damaged = 0; ; damaged++) {
      const idempotency_key = idempotencyKey ?? (await randomId());
      try {
        return await this.operations.createTranscription({ ...hints, ...source }, { idempotency_key }, call);
      } catch (error) {
        const isDamaged = error instanceof ApiError && error.code === "uploaded_file_cannot_be_processed";
        if (!isDamaged || idempotencyKey !== undefined || damaged >= MAX_DAMAGED_UPLOADS) throw error;
      }
    }
  }

  /**
   * Opens a session in which words arrive while people speak. It is opened once, without retries: a person waits.
   * @throws {ApiError} @throws {NoAnswerError} @throws {TypeError} when this runtime has no WebSocket
   */
  live(options: LiveOptions = {}): Promise<LiveSession> {
    return LiveSession.open(this.#transport, options);
  }

  get(id: string, call: CallOptions = {}): Promise<Transcription> {
    return this.operations.getTranscription(id, {}, call);
  }

  /**
   * Polls until a transcription is completed: first after 10 s, then every 5 s; for recordings of ten minutes or more
   * at doubling pauses up to 30 s.
   * @throws {TranscriptionFailedError}
   * @throws {StillProcessingError} when it was processed for twice its length and ten minutes
   */
  async wait(id: string, { pollSeconds, onProgress, ...call }: WaitOptions = {}): Promise<Transcription> {
    let queuedUntil = this.#clock.now();
    let length = 0;
    for (let recommended = FIRST_PAUSE_SECONDS; ; ) {
      const pause = typeof pollSeconds === "function" ? pollSeconds(recommended) : (pollSeconds ?? recommended);
      if (pause > 0) await this.#clock.sleep(pause * 1000, call.signal);
      const transcription = await this.get(id, call);
      onProgress?.(transcription);
      const { status, duration_seconds } = transcription;
      if (status === "completed") return transcription;
      if (status === "failed") throw new TranscriptionFailedError(transcription);
      if (status === "queued") queuedUntil = this.#clock.now();
      length = duration_seconds ?? length;
      const waitedSeconds = (this.#clock.now() - queuedUntil) / 1000;
      if (waitedSeconds > 2 * length + 600) throw new StillProcessingError(transcription);
      const isLong = length >= LONG_RECORDING_SECONDS;
      recommended = isLong ? Math.min(MAX_PAUSE_SECONDS, recommended * 2) : SHORT_PAUSE_SECONDS;
    }
  }

  /** Returns the segments of a completed transcription, page by page. */
  segments(id: string, { words, ...call }: CallOptions & { readonly words?: boolean | undefined } = {}) {
    return allOf<Segment>((cursor) =>
      this.operations.listSegments(id, { limit: MAX_SEGMENT_PAGE_SIZE, cursor, words }, call),
    );
  }

  /** Returns the segments of the translation of a transcription that was created with `task: "translate"`, likewise. */
  translation(id: string, { words, ...call }: CallOptions & { readonly words?: boolean | undefined } = {}) {
    return allOf<Segment>((cursor) =>
      this.operations.getTranslation(id, { limit: MAX_SEGMENT_PAGE_SIZE, cursor, words }, call),
    );
  }

  /** Returns the transcriptions that the key may read, newest first, page by page. */
  list(filter: Omit<ListTranscriptionsParameters, "cursor" | "limit"> = {}, call: CallOptions = {}) {
    return allOf<ListedTranscription>((cursor) =>
      this.operations.listTranscriptions({ ...filter, limit: MAX_PAGE_SIZE, cursor }, call),
    );
  }

  /** Downloads the transcript in a format. */
  export(id: string, format: ExportFormat, call: CallOptions = {}): Promise<Download> {
    return this.operations.exportTranscription(id, { format }, call);
  }

  /** Downloads the transcript in any format of the server, in a chosen form; `export` is part of the contract of v1. */
  exportAs(id: string, format: FileFormat, layout: ExportLayout = {}, call: CallOptions = {}): Promise<Download> {
    return this.operations.exportTranscriptionAs(id, format, layout, call);
  }

  /**
   * Saves the transcript as a file (in Node, Bun and Deno). The file is replaced when the download is complete.
   * @param format default: the extension of the path
   */
  async exportFile(id: string, path: string, format?: ExportFormat, call: CallOptions = {}): Promise<void> {
    // The server refuses an extension that is not a format.
    const extension = (/\.([^./\\]+)$/.exec(path)?.[1] ?? "").toLowerCase() as ExportFormat;
    const { content } = await this.export(id, format ?? extension, call);
    const { rename, rm, writeFile } = await import("node:fs/promises");
    const unfinished = `${path}.${await randomId()}.part`;
    try {
      await writeFile(unfinished, content, { flag: "wx" });
      await rename(unfinished, path);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
  }

  /** Deletes a completed or failed transcription with its audio and its text. */
  delete(id: string, call: CallOptions = {}): Promise<void> {
    return this.operations.deleteTranscription(id, {}, call);
  }

  /** Returns the languages that the server accepts. */
  async languages(call: CallOptions = {}): Promise<Language[]> {
    return (await this.operations.listLanguages({}, call)).data;
  }
}

function isLink(recording: RecordingInput): recording is string | URL {
  return (typeof recording === "string" || recording instanceof URL) && /^https?:\/\//i.test(String(recording));
}
