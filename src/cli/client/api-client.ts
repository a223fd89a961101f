import { randomUUID } from "node:crypto";
import { FormatRegistry, type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  type SegmentResource,
  segmentPageSchema,
  type TranscriptionResource,
  transcriptionPageSchema,
  transcriptionSchema,
} from "../../api/index.ts";
import type { ExportFormat } from "../../exports/index.ts";
import { ClientError, type Connection, parseJson, type RequestOptions, request } from "./request.ts";
import type { PauseOptions, Retries } from "./retries.ts";
import { UploadMonitor, uploadForm } from "./upload.ts";

interface CreateOptions extends PauseOptions {
  /** Text parts of the form: the language and hints. */
  readonly parts: Readonly<Record<string, string>>;
  /** Receives the share of the body that was passed to the network, 0 to 1. */
  readonly onSent: (fraction: number) => void;
}

type ListedTranscription = Static<typeof transcriptionPageSchema>["data"][number];

const languagesSchema = Type.Object({ data: Type.Array(Type.Unknown()) });

/** Timeout of exports. A PDF is generated on request: it takes long for a long recording, and may be queued. */
const EXPORT_TIMEOUT_MILLISECONDS = 300_000;
/** The API's maximum page sizes. */
const MAX_PAGE_SIZE = 100;
const MAX_SEGMENT_PAGE_SIZE = 1000;
/** Maximum number of times that a body is sent again because it arrived damaged. */
const MAX_DAMAGED_BODIES = 2;

// The schemas refer to these formats, which must be registered with TypeBox.
const formats: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  "date-time": /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/,
};
for (const [name, shape] of Object.entries(formats)) {
  if (!FormatRegistry.Has(name)) FormatRegistry.Set(name, (text) => shape.test(text));
}

/** A client of the public API. Its methods retry requests and throw a {ClientError} or the signal's reason. */
export class ApiClient {
  readonly #connection: Connection;
  readonly retries: Retries;

  constructor(connection: Connection, retries: Retries) {
    this.#connection = connection;
    this.retries = retries;
  }

  /** Checks that the server answers and accepts the key; the request needs no scope. */
  async checkKey(): Promise<void> {
    await this.#get("/languages", languagesSchema);
  }

  /**
   * Sends one recording until the server has it. Retries use the same Idempotency-Key, so that a lost response does not
   * create a second recording. After a body that arrived damaged, a new key is used: the server remembers the result of
   * the old one.
   * @param input a file's path or an http(s) URL
   * @throws {ClientError} @throws {CommandError} when the recording can't be read
   */
  async create(input: string, { parts, onSent, ...pauses }: CreateOptions): Promise<TranscriptionResource> {
    const form = uploadForm(input, parts);
    const send = async (idempotencyKey: string) => {
      const body = await form.prepare(this.retries.signal);
      using monitor = new UploadMonitor(body, onSent, this.retries.signal);
      const headers = {
        "Content-Type": form.contentType,
        "Content-Length": String(body.sizeBytes),
        "Content-Digest": body.digest,
        "Idempotency-Key": idempotencyKey,
      };
      const { signal } = monitor;
      const sent = { method: "POST", headers, body: monitor.stream(), signal, timeout: null };
      return this.#checked(transcriptionSchema, await request(this.#connection, "/transcriptions", sent));
    };
    for (let damaged = 0; ; damaged++) {
      const idempotencyKey = randomUUID();
      try {
        return await this.retries.run(() => send(idempotencyKey), pauses);
      } catch (error) {
        const isDamaged = error instanceof ClientError && error.code === "uploaded_file_cannot_be_processed";
        if (!isDamaged || damaged >= MAX_DAMAGED_BODIES) throw error;
      }
    }
  }

  get(id: string, pauses: PauseOptions = {}): Promise<TranscriptionResource> {
    return this.#get(pathOf(id), transcriptionSchema, pauses);
  }

  /** Returns up to `limit` recordings, newest first, fetched page by page. */
  list(limit: number, status?: string): Promise<ListedTranscription[]> {
    const filter = status === undefined ? {} : { status };
    return fetchPages({ limit, pageSize: MAX_PAGE_SIZE }, (page) =>
      this.#get(`/transcriptions?${new URLSearchParams({ ...page, ...filter })}`, transcriptionPageSchema),
    );
  }

  /** Returns all segments of a completed recording, fetched page by page. */
  segments(id: string): Promise<SegmentResource[]> {
    return fetchPages({ limit: Number.POSITIVE_INFINITY, pageSize: MAX_SEGMENT_PAGE_SIZE }, (page) =>
      this.#get(`${pathOf(id)}/segments?${new URLSearchParams(page)}`, segmentPageSchema),
    );
  }

  export(id: string, format: ExportFormat): Promise<Uint8Array> {
    const options = { signal: this.retries.signal, timeout: EXPORT_TIMEOUT_MILLISECONDS };
    return this.retries.run(() => request(this.#connection, `${pathOf(id)}/export?format=${format}`, options));
  }

  async delete(id: string): Promise<void> {
    const options: RequestOptions = { method: "DELETE", signal: this.retries.signal };
    await this.retries.run(async (attempts) => {
      try {
        await request(this.#connection, pathOf(id), options);
      } catch (error) {
        // An earlier attempt deleted the recording, but its response was lost.
        if (attempts > 0 && error instanceof ClientError && error.status === 404) return;
        throw error;
      }
    });
  }

  #get<T extends TSchema>(path: string, schema: T, pauses: PauseOptions = {}): Promise<Static<T>> {
    const { signal } = this.retries;
    return this.retries.run(
      async () => this.#checked(schema, await request(this.#connection, path, { signal })),
      pauses,
    );
  }

  #checked<T extends TSchema>(schema: T, body: Uint8Array): Static<T> {
    const value = parseJson(body);
    if (Value.Check(schema, value)) return value;
    const { baseUrl } = this.#connection;
    const message = `the response of ${baseUrl} does not follow this API; is it a transcribe server?`;
    throw new ClientError(message, "bad_answer");
  }
}

/** Returns up to `limit` entries of a list, fetched page by page. A page without entries is taken for the last one. */
async function fetchPages<Entry>(
  { limit, pageSize }: { readonly limit: number; readonly pageSize: number },
  fetchPage: (
    page: Record<string, string>,
  ) => Promise<{ readonly data: Entry[]; readonly has_more: boolean; readonly next_cursor: string }>,
): Promise<Entry[]> {
  const found: Entry[] = [];
  for (let cursor = {}; ; ) {
    const page = await fetchPage({ limit: String(Math.min(pageSize, limit - found.length)), ...cursor });
    found.push(...page.data);
    if (!page.has_more || page.data.length === 0 || found.length >= limit) return found;
    cursor = { cursor: page.next_cursor };
  }
}

function pathOf(id: string): string {
  return `/transcriptions/${encodeURIComponent(id)}`;
}
