import { basename } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  type ErrorEnvelope,
  errorContract,
  type Segment,
  segmentPageContract,
  type Transcription,
  transcriptionContract,
} from "./contract.ts";

/** A recording that has not ended after this long is not going to, unless a CPU plays the GPU. */
const patienceMilliseconds = 300_000;

/** A client of the public API that holds every body against the contract. */
export class TestClient {
  readonly baseUrl: string;
  readonly key: string;
  readonly #patienceMilliseconds: number;

  /** @param patience in milliseconds, for a recording to end */
  constructor(baseUrl: string, key: string, patience = patienceMilliseconds) {
    this.baseUrl = baseUrl;
    this.key = key;
    this.#patienceMilliseconds = patience;
  }

  /** Any request under the base path, with the key. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${this.key}`);
    return fetch(this.baseUrl + path, { ...init, headers });
  }

  /** Sends a file as it lies on disk. @param fields further parts of the form, e.g. `language` */
  send(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
    const form = new FormData();
    form.set("file", Bun.file(path), basename(path));
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return this.fetch("/transcriptions", { method: "POST", body: form });
  }

  /** Sends a file that must be taken. */
  async create(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Transcription> {
    return bodyOf(await this.send(path, fields), 201, transcriptionContract);
  }

  async get(id: string): Promise<Transcription> {
    return bodyOf(await this.fetch(`/transcriptions/${id}`), 200, transcriptionContract);
  }

  /** Polls until the recording has ended. @param everyMilliseconds pause between polls */
  async waitUntilEnded(id: string, everyMilliseconds = 200): Promise<Transcription> {
    const giveUpAt = performance.now() + this.#patienceMilliseconds;
    for (;;) {
      const transcription = await this.get(id);
      if (transcription.status === "completed" || transcription.status === "failed") return transcription;
      if (performance.now() > giveUpAt)
        throw new Error(`recording ${id} does not end: ${JSON.stringify(transcription)}`);
      await Bun.sleep(everyMilliseconds);
    }
  }

  /** All segments, in pages of `limit`. */
  async segments(id: string, limit = 1000): Promise<Segment[]> {
    const segments: Segment[] = [];
    let cursor = "";
    do {
      const query = new URLSearchParams({ limit: String(limit), ...(cursor === "" ? {} : { cursor }) });
      const response = await this.fetch(`/transcriptions/${id}/segments?${query}`);
      const page = await bodyOf(response, 200, segmentPageContract);
      segments.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== "");
    return segments;
  }

  /** Sends a file and gives the transcript once it is there. */
  async transcribe(path: string, fields: Readonly<Record<string, string>> = {}) {
    const ended = await this.waitUntilEnded((await this.create(path, fields)).id);
    return { ended, segments: ended.status === "completed" ? await this.segments(ended.id) : [] };
  }
}

/**
 * A response's body, when status and form are as expected.
 * @throws an Error that shows what came instead
 */
export async function bodyOf<T extends TSchema>(response: Response, status: number, contract: T): Promise<Static<T>> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status} instead of ${status}: ${text}`);
  const body: unknown = JSON.parse(text);
  const [fault] = Value.Errors(contract, body);
  if (fault !== undefined) throw new Error(`${fault.path}: ${fault.message}, in ${text}`);
  return body;
}

/** The envelope of a response that must be an error. */
export function errorOf(response: Response, status: number): Promise<ErrorEnvelope> {
  return bodyOf(response, status, errorContract);
}

/** What was said, in one line of lower-case words. */
export function spokenText(segments: readonly Segment[]): string {
  const words = segments.flatMap(({ text }) => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []);
  return words.join(" ");
}
