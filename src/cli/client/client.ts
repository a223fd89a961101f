import { basename } from "node:path";
import type { SegmentResource, TranscriptionResource } from "../../http/index.ts";

/** The server refused, or could not be reached; the message is fit to be shown. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly status: number | null;
  /** Seconds after which a retry makes sense, where the server said so. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, status: number | null, retryAfterSeconds: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface WaitOptions {
  readonly onProgress: (transcription: TranscriptionResource) => void;
  /** Overrides the recommended pauses between polls. */
  readonly everySeconds?: number;
}

/** A client of the public API that polls as the API recommends. */
export class ApiClient {
  readonly #base: string;
  readonly #headers: Record<string, string>;

  /** @param baseUrl e.g. `http://127.0.0.1:8787/api/public/v1` */
  constructor(baseUrl: string, key: string) {
    this.#base = baseUrl;
    this.#headers = { Authorization: `Bearer ${key}` };
  }

  async create(file: string, language: string | undefined): Promise<TranscriptionResource> {
    const form = new FormData();
    form.set("file", Bun.file(file), basename(file));
    if (language !== undefined) form.set("language", language);
    return this.#request("/transcriptions", { method: "POST", body: form });
  }

  async get(id: string): Promise<TranscriptionResource> {
    return this.#request(`/transcriptions/${id}`);
  }

  /** All segments, page by page. */
  async *segments(id: string): AsyncGenerator<SegmentResource> {
    let cursor = "";
    do {
      const query = new URLSearchParams({ limit: "1000", ...(cursor === "" ? {} : { cursor }) });
      const page = await this.#request<{ data: SegmentResource[]; next_cursor: string }>(
        `/transcriptions/${id}/segments?${query}`,
      );
      yield* page.data;
      cursor = page.next_cursor;
    } while (cursor !== "");
  }

  /**
   * Polls until the recording has ended: first after 10 s, then every 5 s, for recordings of ten minutes or more doubling
   * up to 30 s; a 5xx or a lost connection is waited out, and given up after twice the length plus ten minutes.
   */
  async wait(id: string, { onProgress, everySeconds }: WaitOptions): Promise<TranscriptionResource> {
    const startedAt = Date.now();
    let pause = everySeconds ?? 10;
    let knownSeconds = 0;
    for (;;) {
      await Bun.sleep(pause * 1000);
      try {
        const transcription = await this.get(id);
        onProgress(transcription);
        if (transcription.status === "completed" || transcription.status === "failed") return transcription;
        knownSeconds = transcription.duration_seconds ?? knownSeconds;
        pause = everySeconds ?? (knownSeconds < 600 ? 5 : Math.min(30, pause < 5 ? 5 : pause * 2));
      } catch (error) {
        if (!(error instanceof ClientError) || !isTransient(error)) throw error;
        pause = error.retryAfterSeconds ?? Math.min(60, pause * 2);
      }
      if (Date.now() - startedAt > (2 * knownSeconds + 600) * 1000) {
        throw new ClientError(`gave up waiting for ${id}; it goes on, ask again later`, null);
      }
    }
  }

  async #request<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await fetch(this.#base + path, { ...init, headers: this.#headers }).catch((error: unknown) => {
      throw new ClientError(`no answer from ${this.#base}: ${error instanceof Error ? error.message : error}`, null);
    });
    const body = (await response.json().catch(() => null)) as (T & { message?: string; errors?: object }) | null;
    if (!response.ok || body === null) {
      const details = body?.errors === undefined ? "" : ` ${Object.values(body.errors).flat().join(" ")}`;
      const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
      throw new ClientError(
        `the server answered ${response.status}: ${body?.message ?? "no message"}${details}`,
        response.status,
        Number.isFinite(retryAfter) ? retryAfter : null,
      );
    }
    return body;
  }
}

function isTransient({ status }: ClientError): boolean {
  return status === null || status === 429 || status >= 500;
}
