import { FormatRegistry, type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  ApiError,
  type CallOptions,
  Client,
  type Clock,
  type LiveEnded,
  type LiveEvent,
  type LiveParameters,
  type LiveSession,
  type Pause,
  TranscriptionFailedError,
} from "../../../sdk/typescript/src/index.ts";
import {
  editing,
  listedTranscriptionSchema,
  type SegmentResource,
  type ServerTrust,
  segmentSchema,
  type TranscriptionResource,
  transcriptionSchema,
} from "../../api-contract/index.ts";
import { type ExportFormat, type ExportLayout, isContractFormat } from "../../exports/index.ts";
import { codeOf, messageOf } from "../../text/index.ts";
import { basename } from "../byte-names.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { openRecording } from "../recording-input.ts";
import type { RecordingHints } from "../recording-options.ts";
import { notThisApi, toClientError } from "./client-error.ts";
import { webSocketClass } from "./live/web-socket.ts";

/** The address of an API, with the key and the trusted certificates for its requests. */
export interface Connection {
  /** e.g. `http://127.0.0.1:8787/api/public/v1` */
  readonly baseUrl: string;
  readonly key: string;
  /** Trusted certificates, if they are not those of the well-known certificate authorities. */
  readonly trust: ServerTrust;
}

/** The texts of a recording. */
export type RecordingTextName = "transcript" | "translation";

interface ApiClientOptions {
  readonly signal: AbortSignal;
  /** How long a server may fail or be unreachable before requests fail. */
  readonly outageSeconds: number;
  readonly clock?: Clock;
}

/** Reaction to the pauses of a request. */
export interface PauseOptions {
  /** Called before each pause, which ends early when the returned promise resolves. */
  readonly onPause?: CallOptions["onPause"];
}

interface CreateOptions extends PauseOptions {
  readonly hints: RecordingHints;
  /** File name for the server; that of the file when omitted. */
  readonly name?: string;
  /** Called when the recording can be read, before it is sent. */
  readonly onOpened?: () => void;
  /** Receives the share of the body that was passed to the network, 0 to 1. */
  readonly onSent: (share: number) => void;
}

interface FollowOptions extends PauseOptions {
  /** Overrides the recommended pauses between polls. */
  readonly everySeconds: number | undefined;
  /** Whether the first poll happens at once, for a recording that was not just sent. */
  readonly atOnce: boolean;
  /**
   * Number of recordings that are followed concurrently. With n of them, each is polled at most every n seconds, to
   * leave most of the key's rate limit to other requests.
   */
  readonly together: () => number;
  readonly onPoll: (transcription: TranscriptionResource) => void;
}

type ListedTranscription = Static<typeof listedTranscriptionSchema>;

const TIMEOUT_SECONDS = 60;
/** Time without progress after which an upload counts as lost. TCP alone would detect it after about 15 minutes. */
const STALL_SECONDS = 120;

// The schemas refer to these formats, which must be registered with TypeBox.
const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  "date-time": /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/,
};
for (const [name, shape] of Object.entries(formats)) {
  if (!FormatRegistry.Has(name)) FormatRegistry.Set(name, (text) => shape.test(text));
}

/**
 * The client package's client with the checks and messages of the command line. Its methods throw a {ClientError} or
 * the signal's reason.
 */
export class ApiClient {
  readonly #client: Client;
  readonly #baseUrl: string;
  readonly signal: AbortSignal;
  #reached = false;

  /** @throws {CommandError} when the key is malformed */
  constructor({ baseUrl, key, trust }: Connection, { signal, outageSeconds, clock }: ApiClientOptions) {
    this.#baseUrl = baseUrl;
    this.signal = signal;
    const send = async (url: string, init: RequestInit) => {
      const response = await fetch(url, { ...init, redirect: "manual", timeout: false, ...trust });
      this.#reached = true;
      return response;
    };
    const limits = { timeoutSeconds: TIMEOUT_SECONDS, retrySeconds: outageSeconds, waitsForLimits: true };
    try {
      const webSocket = webSocketClass(trust, process.env);
      this.#client = new Client({ baseUrl, key, ...limits, fetch: send, webSocket, clock });
    } catch (error) {
      throw new CommandError(messageOf(error), exitCodes.refused);
    }
  }

  /** Checks that the server answers and accepts the key; the request needs no scope. */
  async checkKey(): Promise<void> {
    this.#checked(Type.Array(Type.Unknown()), await this.#call((call) => this.#client.languages(call)));
  }

  /**
   * Sends one recording until the server has it.
   * @param input a file's path, an http(s) URL, or `-` for standard input
   * @throws {ClientError} @throws {CommandError} when the recording can't be read
   */
  async create(
    input: string,
    { hints, name = basename(input), onOpened, onSent, ...pauses }: CreateOptions,
  ): Promise<TranscriptionResource> {
    await using recording = await openRecording(input, this.signal);
    onOpened?.();
    const { path } = recording;
    const own = { name: name.toWellFormed(), timeoutSeconds: STALL_SECONDS, verify: true, onUpload: onSent };
    const created = await this.#call((call) => this.#client.create(path, { ...hints, ...own, ...call }), pauses).catch(
      (error: unknown) => {
        // The file may have become unreadable after it was opened.
        if (codeOf(error) === "" || error instanceof CommandError) throw error;
        throw new CommandError(`can't read ${input}: ${messageOf(error)}`);
      },
    );
    return this.#checked(transcriptionSchema, created);
  }

  async get(id: string): Promise<TranscriptionResource> {
    return this.#checked(transcriptionSchema, await this.#call((call) => this.#client.get(id, call)));
  }

  /**
   * Polls until a recording is completed or failed, in the pauses that the API recommends.
   * @throws {ClientError} when a request fails for good, or after much longer than the recording should take
   */
  async follow(id: string, options: FollowOptions): Promise<TranscriptionResource> {
    const { everySeconds, together, onPoll, ...pauses } = options;
    let { atOnce } = options;
    const pollSeconds = (recommendedSeconds: number) => {
      if (!atOnce) return everySeconds ?? Math.max(recommendedSeconds, together());
      atOnce = false;
      return 0;
    };
    const onProgress = (transcription: unknown) => onPoll(this.#checked(transcriptionSchema, transcription));
    return this.#call(async (call) => {
      try {
        return await this.#client.wait(id, { pollSeconds, onProgress, ...call });
      } catch (error) {
        if (error instanceof TranscriptionFailedError) return error.transcription;
        throw error;
      }
    }, pauses);
  }

  /** Returns up to `limit` recordings, newest first. */
  list(limit: number, status?: string, tag?: string): Promise<ListedTranscription[]> {
    return this.#all(listedTranscriptionSchema, limit, (call) =>
      tag === undefined ? this.#client.list({ status }, call) : this.#client.editing.tagged(tag, { status }, call),
    );
  }

  /** Cancels a recording, or the processing again of a completed one. */
  async cancel(id: string): Promise<void> {
    await this.#call((call) => this.#client.editing.cancel(id, call));
  }

  async speakers(id: string): Promise<editing.Speakers> {
    return this.#checked(editing.speakersSchema, await this.#call((call) => this.#client.editing.speakers(id, call)));
  }

  /** Names speakers, by their letters; null removes a name. */
  async nameSpeakers(id: string, names: Record<string, string | null>): Promise<void> {
    await this.#call((call) => this.#client.editing.nameSpeakers(id, names, call));
  }

  /** Merges two speakers of a transcript, of which `revision` is the latest revision. */
  async mergeSpeakers(
    id: string,
    revision: number,
    speakers: { readonly speaker: string; readonly into: string },
  ): Promise<void> {
    await this.#call((call) => this.#client.editing.mergeSpeakers(id, revision, speakers, call));
  }

  async tags(id: string): Promise<string[]> {
    return this.#checked(Type.Array(Type.String()), await this.#call((call) => this.#client.editing.tags(id, call)));
  }

  /** Replaces all tags of a recording. @returns the tags that it has now */
  async setTags(id: string, tags: readonly string[]): Promise<string[]> {
    const set = await this.#call((call) => this.#client.editing.setTags(id, tags, call));
    return this.#checked(Type.Array(Type.String()), set);
  }

  /** Returns up to `limit` recordings that have the searched words, newest first. */
  search(
    words: string,
    limit: number,
    filter: { readonly tag?: string | undefined; readonly status?: string | undefined },
  ): Promise<editing.FoundPage["data"]> {
    return this.#all(editing.foundSchema, limit, (call) => this.#client.editing.search(words, filter, call));
  }

  /** Returns all segments of a text of a completed recording. */
  segments(id: string, text: RecordingTextName = "transcript"): Promise<SegmentResource[]> {
    return this.#all(segmentSchema, Number.POSITIVE_INFINITY, (call) =>
      text === "translation" ? this.#client.translation(id, call) : this.#client.segments(id, call),
    );
  }

  /** Downloads a text. What the contract of version 1 has is requested as it says, also of an older server. */
  async export(
    id: string,
    format: ExportFormat,
    text: RecordingTextName = "transcript",
    layout?: ExportLayout,
  ): Promise<Uint8Array> {
    const own = text === "translation" ? { text } : {};
    const download = (call: CallOptions) =>
      text === "transcript" && layout === undefined && isContractFormat(format)
        ? this.#client.export(id, format, call)
        : this.#client.exportAs(id, format, { ...layout, ...own }, call);
    return (await this.#call(download)).content;
  }

  async delete(id: string): Promise<void> {
    await this.#call((call) => this.#client.delete(id, call));
  }

  /** Opens a live session. It has no signal: a command ends it, and does not cut it off. */
  async live(parameters: LiveParameters): Promise<LiveSession> {
    try {
      return await this.#client.live(parameters);
    } catch (error) {
      if (error instanceof ApiError && error.code === "not_found") {
        throw new CommandError("the server has no live sessions: it is older, or live.enabled is off");
      }
      throw toClientError(error, this.#baseUrl);
    }
  }

  /** Reads the events of a live session until its end. */
  async liveEvents(session: LiveSession, onEvent: (event: LiveEvent) => void): Promise<LiveEnded> {
    try {
      for await (const event of session) {
        onEvent(event);
        if (event.type === "ended") return event;
      }
    } catch (error) {
      throw toClientError(error, this.#baseUrl);
    }
    throw notThisApi(this.#baseUrl);
  }

  /** Makes calls with this client's signal. Without any response so far, the address is probably wrong: no retry. */
  async #call<T>(make: (call: CallOptions) => Promise<T>, { onPause }: PauseOptions = {}): Promise<T> {
    const pause = (pause: Pause) => {
      if (!this.#reached) throw pause.error;
      return onPause?.(pause);
    };
    try {
      return await make({ signal: this.signal, onPause: pause });
    } catch (error) {
      throw toClientError(error, this.#baseUrl);
    }
  }

  #all<T extends TSchema>(
    schema: T,
    limit: number,
    entries: (call: CallOptions) => AsyncIterable<unknown>,
  ): Promise<Static<T>[]> {
    return this.#call(async (call) => {
      const found: Static<T>[] = [];
      for await (const entry of entries(call)) {
        found.push(this.#checked(schema, entry));
        if (found.length >= limit) break;
      }
      return found;
    });
  }

  #checked<T extends TSchema>(schema: T, value: unknown): Static<T> {
    if (Value.Check(schema, value)) return value;
    throw notThisApi(this.#baseUrl);
  }
}
