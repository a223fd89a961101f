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

/** Time limit for a recording to finish. Only a software GPU needs longer. */
const finishMilliseconds = 300_000;

/** A client of the public API that checks every response body against the contract. */
export class TestClient {
  readonly baseUrl: string;
  readonly key: string;
  readonly #patienceMilliseconds: number;

  /** @param patience time limit for a recording to finish, in milliseconds */
  constructor(baseUrl: string, key: string, patience = finishMilliseconds) {
    this.baseUrl = baseUrl;
    this.key = key;
    this.#patienceMilliseconds = patience;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has("authorization")) headers.set("authorization", `Bearer ${this.key}`);
    return fetch(this.baseUrl + path, { ...init, headers });
  }

  /** Uploads a file. @param fields further parts of the form, e.g. `language` */
  send(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
    const form = new FormData();
    form.set("file", Bun.file(path), basename(path));
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return this.fetch("/transcriptions", { method: "POST", body: form });
  }

  /** Uploads a file that the server must accept. */
  async create(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Transcription> {
    return bodyOf(await this.send(path, fields), 201, transcriptionContract);
  }

  async get(id: string): Promise<Transcription> {
    return bodyOf(await this.fetch(`/transcriptions/${id}`), 200, transcriptionContract);
  }

  /** Polls until the recording is Completed or Failed. @param everyMilliseconds pause between polls */
  async waitUntilEnded(id: string, everyMilliseconds = 200): Promise<Transcription> {
    const giveUpAt = performance.now() + this.#patienceMilliseconds;
    for (;;) {
      const transcription = await this.get(id);
      if (transcription.status === "completed" || transcription.status === "failed") return transcription;
      if (performance.now() > giveUpAt)
        throw new Error(`recording ${id} does not finish: ${JSON.stringify(transcription)}`);
      await Bun.sleep(everyMilliseconds);
    }
  }

  /** Returns all segments, read in pages of `limit`. */
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

  async transcribe(path: string, fields: Readonly<Record<string, string>> = {}) {
    const ended = await this.waitUntilEnded((await this.create(path, fields)).id);
    return { ended, segments: ended.status === "completed" ? await this.segments(ended.id) : [] };
  }
}

/**
 * Returns the body of a response with the expected status and shape.
 * @throws {Error} with the actual response otherwise
 */
export async function bodyOf<T extends TSchema>(response: Response, status: number, contract: T): Promise<Static<T>> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status} instead of ${status}: ${text}`);
  const body: unknown = JSON.parse(text);
  const [violation] = Value.Errors(contract, body);
  if (violation !== undefined) throw new Error(`${violation.path}: ${violation.message}, in ${text}`);
  return body;
}

/** Returns the envelope of a response that must be an error. */
export function errorOf(response: Response, status: number): Promise<ErrorEnvelope> {
  return bodyOf(response, status, errorContract);
}

/** Returns the transcript as one line of lower-case words. */
export function spokenText(segments: readonly Segment[]): string {
  const words = segments.flatMap(({ text }) => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []);
  return words.join(" ");
}
