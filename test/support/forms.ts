import type { ApiServer, KeyClient } from "./http.ts";

/** Parts of a create's form; `file` is the bytes of the recording. */
export interface CreateForm {
  readonly file?: Blob;
  readonly name?: string;
  readonly url?: string;
  readonly language?: string;
  readonly prompt?: string;
  readonly speakers?: string;
  readonly min_speakers?: string;
  readonly max_speakers?: string;
}

/** A link that is accepted without being fetched. */
export const someUrl = "https://media.example.org/talk.mp3";

/** Sends POST /transcriptions. @param key the Idempotency-Key */
export function post(
  client: KeyClient,
  { file, name = "talk.mp3", ...texts }: CreateForm,
  key?: string,
): Promise<Response> {
  const body = new FormData();
  if (file !== undefined) body.append("file", file, name);
  for (const [part, text] of Object.entries(texts)) body.append(part, text);
  const headers = key === undefined ? {} : { "idempotency-key": key };
  return client.fetch("/transcriptions", { method: "POST", body, headers });
}

/** Returns the head of a create as it is sent, whose form has the boundary `x`. */
export function createHead(key: string, bytes: number, idempotencyKey?: string): string {
  const lines = [
    ...["POST /api/public/v1/transcriptions HTTP/1.1", "Host: localhost", `Authorization: Bearer ${key}`],
    ...["Content-Type: multipart/form-data; boundary=x", `Content-Length: ${bytes}`],
    ...(idempotencyKey === undefined ? [] : [`Idempotency-Key: ${idempotencyKey}`]),
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** The beginning of the part with the file in such a form. */
export const FILE_PART = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';

const boundary = "a-line-between-parts";

/** Sends a request with its credentials. */
type UploadClient = Pick<KeyClient, "fetch">;

/** An upload that pauses in the middle until `finish` is called. */
export class SlowUpload {
  readonly #rest: Uint8Array;
  readonly #abort = new AbortController();
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #response: Promise<Response>;

  /** Sends the first half of a file and waits until it has arrived. */
  static async begin(server: ApiServer, client: UploadClient, file: Uint8Array, key?: string): Promise<SlowUpload> {
    const before = server.filesIn("incoming").length;
    const upload = new SlowUpload(client, file, key);
    while (server.filesIn("incoming").length === before) await Bun.sleep(2);
    return upload;
  }

  private constructor(client: UploadClient, file: Uint8Array, key: string | undefined) {
    const half = Math.floor(file.length / 2);
    let started: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(self) {
        started = self;
      },
    });
    if (started === undefined) throw new Error("a stream starts at once");
    this.#controller = started;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="talk.mp3"\r\n\r\n`;
    this.#controller.enqueue(Buffer.concat([Buffer.from(head), file.subarray(0, half)]));
    this.#rest = Buffer.concat([file.subarray(half), Buffer.from(`\r\n--${boundary}--\r\n`)]);
    const headers = {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      ...(key === undefined ? {} : { "idempotency-key": key }),
    };
    const { signal } = this.#abort;
    this.#response = client.fetch("/transcriptions", { method: "POST", body, headers, signal });
    this.#response.catch(() => {});
  }

  /** Sends the rest. */
  finish(): Promise<Response> {
    this.#controller.enqueue(this.#rest);
    this.#controller.close();
    return this.#response;
  }

  /** Disconnects in the middle. */
  async vanish(): Promise<void> {
    this.#abort.abort();
    await this.#response.catch(() => {});
  }
}
