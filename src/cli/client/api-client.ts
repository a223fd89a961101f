import { FormatRegistry, type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { ExportFormat } from "../../exports/index.ts";
import {
  type SegmentResource,
  segmentPageSchema,
  type TranscriptionResource,
  transcriptionPageSchema,
  transcriptionSchema,
} from "../../http/index.ts";
import type { ServerTrust } from "../../server/index.ts";
import { ClientError } from "./client-error.ts";
import { noAnswer, parseJson, readAnswer, refusalOf } from "./read-answer.ts";
import { SendWatch } from "./send-watch.ts";
import type { UploadForm } from "./upload-form.ts";

/** The address of an API, with the key and the trusted certificates for its requests. */
export interface Connection {
  /** e.g. `http://127.0.0.1:8787/api/public/v1` */
  readonly baseUrl: string;
  readonly key: string;
  /** Trusted certificates, if they are not those of the well-known certificate authorities. */
  readonly trust: ServerTrust;
}

export interface CreateRequest {
  readonly form: UploadForm;
  readonly idempotencyKey: string;
  /** Receives the share of the body that was passed to the network, 0 to 1. */
  readonly onSent: (fraction: number) => void;
}

export type ListedTranscription = Static<typeof transcriptionPageSchema>["data"][number];
export type TranscriptionPage = Static<typeof transcriptionPageSchema>;

const anything = Type.Unknown();

const requestTimeout = 60_000;
/** Timeout of exports in ms. A PDF is generated on request: it takes long for a long recording, and may be queued. */
const exportTimeout = 300_000;

// The schemas refer to these formats, which must be registered with TypeBox.
const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  "date-time": /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/,
};
for (const [name, shape] of Object.entries(formats)) {
  if (!FormatRegistry.Has(name)) FormatRegistry.Set(name, (text) => shape.test(text));
}

/**
 * A client of the public API. Each method makes one request, without retries or pauses, and throws a {ClientError} or
 * the signal's reason.
 */
export class ApiClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Checks that the server answers and accepts the key; the request needs no scope. */
  async greet(signal: AbortSignal): Promise<void> {
    await this.#json("/languages", Type.Object({ data: Type.Array(anything) }), {}, signal);
  }

  async create({ form, idempotencyKey, onSent }: CreateRequest, signal: AbortSignal): Promise<TranscriptionResource> {
    const body = await form.prepare(signal);
    using watch = new SendWatch(body, onSent, signal);
    const headers = {
      "Content-Type": form.contentType,
      "Content-Length": String(body.sizeBytes),
      "Content-Digest": body.digest,
      "Idempotency-Key": idempotencyKey,
    };
    const init = { method: "POST", headers, body: watch.stream() };
    return await this.#json("/transcriptions", transcriptionSchema, init, watch.signal, null);
  }

  get(id: string, signal: AbortSignal): Promise<TranscriptionResource> {
    return this.#json(`/transcriptions/${encodeURIComponent(id)}`, transcriptionSchema, {}, signal);
  }

  /** Returns one page of transcriptions, newest first. */
  list(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<TranscriptionPage> {
    return this.#json(`/transcriptions?${new URLSearchParams(query)}`, transcriptionPageSchema, {}, signal);
  }

  /** Returns one page of segments. @param cursor empty for the first page */
  segments(id: string, cursor: string, signal: AbortSignal): Promise<{ data: SegmentResource[]; next_cursor: string }> {
    const query = new URLSearchParams({ limit: "1000", ...(cursor === "" ? {} : { cursor }) });
    return this.#json(`/transcriptions/${encodeURIComponent(id)}/segments?${query}`, segmentPageSchema, {}, signal);
  }

  async export(id: string, format: ExportFormat, signal: AbortSignal): Promise<Uint8Array> {
    const path = `/transcriptions/${encodeURIComponent(id)}/export?format=${format}`;
    return this.#request(path, {}, signal, exportTimeout);
  }

  async delete(id: string, signal: AbortSignal): Promise<void> {
    await this.#request(`/transcriptions/${encodeURIComponent(id)}`, { method: "DELETE" }, signal, requestTimeout);
  }

  async #json<T extends TSchema>(
    path: string,
    schema: T,
    init: RequestInit,
    signal: AbortSignal,
    timeout: number | null = requestTimeout,
  ): Promise<Static<T>> {
    const value = parseJson(await this.#request(path, init, signal, timeout));
    if (Value.Check(schema, value)) return value;
    throw new ClientError(
      `${this.#connection.baseUrl} answered something that is not this API's; is it a transcribe server?`,
      {
        code: "bad_answer",
      },
    );
  }

  /** @param timeout milliseconds for the whole response; null when only the signal limits the time */
  async #request(path: string, init: RequestInit, signal: AbortSignal, timeout: number | null): Promise<Uint8Array> {
    const { baseUrl, key, trust } = this.#connection;
    const both = timeout === null ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
    try {
      const response = await fetch(baseUrl + path, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), Authorization: `Bearer ${key}` },
        // A redirect could send the key and the recording to an unknown server.
        redirect: "manual",
        signal: both,
        timeout: false,
        ...trust,
      });
      const body = await readAnswer(response);
      if (!response.ok) throw refusalOf(response, body, baseUrl);
      return body;
    } catch (error) {
      if (error instanceof ClientError) throw error;
      if (signal.aborted) throw signal.reason;
      throw noAnswer(baseUrl, error);
    }
  }
}
