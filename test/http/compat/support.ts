import { samplePath } from "../../../harness/checkout.ts";
import { packSegment, type Segment } from "../../../src/segments/index.ts";
import type { ApiServer, KeyClient } from "../../support/http.ts";

export const jfk = samplePath("jfk.mp3");

/** A part of a form: its name, its value, and the file name of a file. */
export type Part = readonly [name: string, value: string | Blob, fileName?: string];

/** Returns the parts that every transcription needs. */
export const usualParts = (): Part[] => [
  ["file", Bun.file(jfk), "talk.mp3"],
  ["model", "whisper-1"],
];

interface PostOptions {
  readonly path?: string;
  readonly signal?: AbortSignal;
}

/** Sends a form to OpenAI's audio API. */
export function post(
  server: ApiServer,
  client: KeyClient,
  parts: readonly Part[],
  { path = "/v1/audio/transcriptions", signal }: PostOptions = {},
): Promise<Response> {
  const body = new FormData();
  for (const [name, value, fileName] of parts) {
    if (typeof value === "string") body.append(name, value);
    else body.append(name, value, fileName);
  }
  return ask(server, client, path, { method: "POST", body, ...(signal === undefined ? {} : { signal }) });
}

/** Sends a request to a path outside the API's base path, with the client's key. */
export function ask(server: ApiServer, client: KeyClient, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${client.key}`);
  return fetch(`${server.origin}${path}`, { ...init, headers });
}

/** The properties of the bodies that tests compare; each answer has some of them. */
interface Body {
  readonly text: string;
  readonly language: string;
  readonly languages?: readonly unknown[];
  readonly segments: readonly { readonly text: string; readonly avg_logprob: number }[];
  readonly words: readonly unknown[];
  readonly logprobs: readonly unknown[];
  readonly data: readonly unknown[];
  readonly error: { readonly message: string; readonly type: string; readonly code: string | null };
}

/** Returns the body of an answer in JSON. */
export async function bodyOf(response: Response): Promise<Body> {
  return (await response.json()) as Body;
}

/** Returns the id of a recording that is created after the first `before`. */
export async function nextQueued(server: ApiServer, before: number): Promise<string> {
  for (let id = server.queued[before]; ; id = server.queued[before]) {
    if (id !== undefined) return id;
    await Bun.sleep(2);
  }
}

const word = (text: string, startSeconds: number, probability = 0.5) => {
  return { text, startSeconds, endSeconds: startSeconds + 0.4, probability };
};

/** Two speakers who say three short sentences. */
export const conversation: readonly Segment[] = [
  {
    ...{ index: 0, startSeconds: 0.5, endSeconds: 1.5, speaker: 0 },
    text: "Good day.",
    words: [word(" Good", 0.5), word(" day.", 1)],
  },
  { ...{ index: 1, startSeconds: 2, endSeconds: 2.5, speaker: 1 }, text: "Hello!", words: [word(" Hello!", 2)] },
  { ...{ index: 2, startSeconds: 31, endSeconds: 32, speaker: 0 }, text: "Bye.", words: [word(" Bye.", 31, 1)] },
];

interface Ending {
  readonly segments?: readonly Segment[];
  readonly translation?: readonly Segment[];
  readonly language?: string;
  readonly durationSeconds?: number;
  /** Fails instead of completing. */
  readonly failure?: Parameters<ApiServer["recordings"]["fail"]>[1];
}

/** Ends a recording as the pipeline does. */
export function end(server: ApiServer, id: string, ending: Ending = {}): void {
  const { recordings, events } = server;
  const { segments = conversation, language = "en", durationSeconds = 32.25, failure } = ending;
  // Unless the test says otherwise, the speech is English.
  const { translation = recordings.get(id)?.isTranslated === true ? segments : [] } = ending;
  recordings.claim(id);
  recordings.describe(id, { language, durationSeconds });
  recordings.rows.addTranslation(id, translation.map(packSegment));
  if (failure === undefined) recordings.complete(id, segments);
  else recordings.fail(id, failure);
  events.deliver();
}

/** Sends a form and ends its recording at once. */
export async function transcribe(server: ApiServer, client: KeyClient, parts: readonly Part[], ending?: Ending) {
  const before = server.queued.length;
  const answer = post(server, client, parts);
  end(server, await nextQueued(server, before), ending);
  return await answer;
}

/**
 * Maximum time until nothing is left of a recording whose client has disconnected. A quiet machine needs milliseconds, a
 * busy one sometimes seconds. A server that was not notified would detect it at its next keep-alive comment, after 15 s.
 */
export const DISCONNECT_MILLISECONDS = 10_000;

/** Returns what is left of recordings: rows of the database and files. */
export function leftovers(server: ApiServer): unknown[] {
  const rows = server.store.$client
    .query(
      "SELECT id FROM recordings UNION SELECT recording_id FROM segments UNION SELECT recording_id FROM translated_segments",
    )
    .all();
  return [...rows, ...(["incoming", "uploads", "work"] as const).flatMap((folder) => server.filesIn(folder))];
}

/** Waits until nothing is left of recordings. */
export async function untilNothingIsLeft(server: ApiServer): Promise<void> {
  while (leftovers(server).length > 0) await Bun.sleep(2);
}
