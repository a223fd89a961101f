import { newRecording } from "../../harness/new-recording.ts";
import { scopes } from "../../src/keys/index.ts";
import { newRecordingId } from "../../src/recordings/index.ts";
import { said } from "./console.ts";
import type { ApiServer, KeyClient } from "./http.ts";

/** Requests of a client whose key has all scopes. */
export class Editor {
  readonly client: KeyClient;

  constructor(server: ApiServer, account = "first", values: Parameters<ApiServer["client"]>[1] = {}) {
    this.client = server.client(account, { scopes, name: "reports", ...values });
  }

  /** Sends a request below a recording. @param revision of `If-Match` */
  send(method: string, path: string, body?: unknown, revision?: number, headers: Record<string, string> = {}) {
    return this.client.fetch(path, {
      method,
      headers: { ...headers, ...(revision === undefined ? {} : { "If-Match": `"${revision}"` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async read<T = Record<string, unknown>>(path: string): Promise<T> {
    const response = await this.client.fetch(path);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}

/** Enters a completed recording in which two speakers say texts in turn. @returns its id */
export function enterSaid(
  server: ApiServer,
  accountId: string,
  texts: readonly string[],
  values: Parameters<typeof newRecording>[2] = {},
): string {
  const { id } = server.recordings.create(newRecording(newRecordingId(server.now()), accountId, values));
  server.recordings.claim(id);
  server.recordings.complete(id, texts.map(said));
  return id;
}
