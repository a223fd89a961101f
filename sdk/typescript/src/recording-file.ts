const CHUNK_BYTES = 256 * 1024;
/** Whether this is Node, Bun or Deno. Browsers send a Blob without reading it first, but don't stream to HTTP/1.1. */
const CAN_STREAM = "process" in globalThis;

/** A recording to upload: a file's path (in Node, Bun and Deno), a Blob or File, or bytes. */
export type RecordingInput = string | URL | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

/** A recording with the name under which it is uploaded. A file is read while it is sent, and again for a retry. */
export class RecordingFile {
  readonly name: string;
  readonly #content: Blob | string | URL;

  /** @param name default: the file's own name, or `recording` */
  constructor(input: RecordingInput, name?: string) {
    const isPath = typeof input === "string" || input instanceof URL;
    this.#content = isPath || input instanceof Blob ? input : new Blob([input]);
    // A file has a name; in Bun, every Blob has the property.
    const own = isPath ? input : "name" in input && typeof input.name === "string" ? input.name : "";
    this.name = name ?? baseName(own);
  }

  /** Returns the content with its size. `close` releases the file. */
  async open(): Promise<OpenRecording> {
    const content = this.#content;
    if (content instanceof Blob) {
      const sizeBytes = content.size;
      const close = async () => {};
      return CAN_STREAM
        ? { sizeBytes, version: "", chunks: () => chunksOf(content.stream()), close }
        : { sizeBytes, blob: content, close };
    }
    const { constants, open } = await import("node:fs/promises");
    // Without O_NONBLOCK, which Windows lacks, opening a pipe without a writer would block forever.
    const file = await open(content, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await file.stat();
    if (!stat.isFile()) {
      await file.close();
      throw new TypeError("the recording is not a regular file");
    }
    const chunks = async function* () {
      for (let position = 0; position < stat.size; ) {
        const buffer = new Uint8Array(Math.min(CHUNK_BYTES, stat.size - position));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
        if (bytesRead === 0) throw new Error("the recording became shorter while it was sent");
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    };
    return { sizeBytes: stat.size, version: `${stat.ino} ${stat.mtimeMs}`, chunks, close: () => file.close() };
  }
}

/** An opened recording: a Blob, or chunks of a file. */
type OpenRecording = { readonly sizeBytes: number; readonly close: () => Promise<void> } & (
  | { readonly blob: Blob }
  | {
      /** Changes with the content of a file. */
      readonly version: string;
      readonly chunks: () => AsyncGenerator<Uint8Array<ArrayBuffer>>;
    }
);

/** A multipart body that was prepared for one attempt. */
export interface FormBody {
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Value of `Content-Digest` (RFC 9530); null without one. */
  readonly digest: string | null;
  readonly body: Blob | ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly close: () => Promise<void>;
}

interface OpenOptions {
  /** Whether the body has a digest. */
  readonly verify: boolean;
  /** Called for each chunk that the digest reads; it may throw. */
  readonly onRead: () => void;
  /** Called whenever the network asks for more of a file, with the share of the body that it has. */
  readonly onSent: (share: number) => void;
}

/** A form with at most one recording, which can be sent repeatedly. Undefined fields are omitted. */
export class MultipartForm {
  readonly #contentType: string;
  readonly #before: Uint8Array<ArrayBuffer>;
  readonly #after: Uint8Array<ArrayBuffer>;
  readonly #file: RecordingFile | null;
  /** The last digest; it stays valid while the file does not change. */
  #known = { version: "", digest: "" };

  constructor(form: object, id: string) {
    const boundary = `transcribe-${id}`;
    this.#contentType = `multipart/form-data; boundary=${boundary}`;
    const entries = Object.entries(form).filter(([, value]) => value !== undefined);
    const head = (name: string, rest: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`;
    const fields = entries
      .filter(([, value]) => !(value instanceof RecordingFile))
      .map(([name, value]) => `${head(name, "")}${value}\r\n`)
      .join("");
    const [name = "", file] = entries.find(([, value]) => value instanceof RecordingFile) ?? [];
    this.#file = file instanceof RecordingFile ? file : null;
    const rest = (own: string) => `; filename="${quoted(own)}"\r\nContent-Type: application/octet-stream`;
    const encoder = new TextEncoder();
    this.#before = encoder.encode(this.#file === null ? fields : fields + head(name, rest(this.#file.name)));
    this.#after = encoder.encode(`${this.#file === null ? "" : "\r\n"}--${boundary}--\r\n`);
  }

  /** Opens the recording, whose state may have changed since the last attempt. */
  async open({ verify, onRead, onSent }: OpenOptions): Promise<FormBody> {
    const [before, after, contentType] = [this.#before, this.#after, this.#contentType];
    const recording = await (this.#file ?? new RecordingFile(new Blob([]))).open();
    const { close } = recording;
    const sizeBytes = before.length + recording.sizeBytes + after.length;
    if ("blob" in recording) {
      return { contentType, sizeBytes, digest: null, body: new Blob([before, recording.blob, after]), close };
    }
    const chunks = () => joined(before, recording.chunks(), after);
    try {
      const digest = verify ? await this.#digest(`${recording.version} ${sizeBytes}`, chunks(), onRead) : null;
      return { contentType, sizeBytes, digest, body: streamOf(chunks(), sizeBytes, onSent), close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #digest(version: string, chunks: AsyncIterable<Uint8Array>, onRead: () => void): Promise<string> {
    if (version !== this.#known.version) {
      const { createHash } = await import("node:crypto");
      const hash = createHash("sha256");
      for await (const chunk of chunks) {
        onRead();
        hash.update(chunk);
      }
      this.#known = { version, digest: `sha-256=:${hash.digest("base64")}:` };
    }
    return this.#known.digest;
  }
}

export async function* chunksOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

async function* joined(
  before: Uint8Array<ArrayBuffer>,
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>,
  after: Uint8Array<ArrayBuffer>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield before;
  yield* chunks;
  yield after;
}

/** Returns a stream that reads a chunk when the network has accepted the previous one. */
function streamOf(
  chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>,
  sizeBytes: number,
  onSent: (share: number) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        sent += value?.length ?? 0;
        onSent(sent / sizeBytes);
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Returns 128 random bits. Node 18 has no global `crypto`, and pages without TLS have no `crypto.randomUUID`. */
export async function randomId(): Promise<string> {
  const source = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
  const bytes = source.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Escapes a file name as in the HTML standard ("multipart/form-data encoding algorithm"). */
function quoted(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function baseName(path: string | URL): string {
  const [last = ""] = (path instanceof URL ? decodeURIComponent(path.pathname) : path).split(/[/\\]/).slice(-1);
  return last === "" ? "recording" : last;
}
