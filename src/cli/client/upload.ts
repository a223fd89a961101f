import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { codeOf } from "../../text/index.ts";
import { CommandError } from "../command-error.ts";
import { isLink } from "../parse-option.ts";
import { ClientError } from "./request.ts";

const CHUNK_BYTES = 256 * 1024;

/** A multipart body that can be sent repeatedly, and whose length and digest are known in advance. */
interface UploadForm {
  readonly contentType: string;
  /** Reads the recording's state again, as it may have changed since the last attempt. @throws {CommandError} */
  prepare(signal: AbortSignal): Promise<PreparedBody>;
}

interface PreparedBody {
  readonly sizeBytes: number;
  /** Value of `Content-Digest` (RFC 9530). */
  readonly digest: string;
  /** Reads the body's bytes on demand. @throws {Error} when the recording becomes shorter meanwhile */
  chunks(): AsyncGenerator<Uint8Array>;
}

/** Returns the form for a recording, given by a file's path or an http(s) URL. @param parts further text parts */
export function uploadForm(input: string, parts: Readonly<Record<string, string>>): UploadForm {
  const boundary = `transcribe-${randomUUID()}`;
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const fields = Object.entries(parts)
    .map(([name, value]) => field(name, value))
    .join("");
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const end = `--${boundary}--\r\n`;
  if (isLink(input)) {
    const body = Buffer.from(fields + field("url", input) + end);
    const chunks = async function* () {
      yield new Uint8Array(body);
    };
    const digest = contentDigest(createHash("sha256").update(body).digest("base64"));
    return { contentType, prepare: async () => ({ sizeBytes: body.length, digest, chunks }) };
  }
  const head = Buffer.from(
    `${fields}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted(basename(input))}"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n",
  );
  return { contentType, prepare: fileBody(input, head, Buffer.from(`\r\n${end}`)) };
}

function fileBody(path: string, head: Buffer, tail: Buffer): UploadForm["prepare"] {
  let known = { version: "", digest: "" };
  return async (signal) => {
    await using file = await openRecording(path);
    const { size, mtimeMs, ino } = await file.stat();
    const chunks = async function* () {
      yield new Uint8Array(head);
      await using again = await openRecording(path);
      yield* chunksOf(again, size);
      yield new Uint8Array(tail);
    };
    const version = `${ino} ${size} ${mtimeMs}`;
    if (version !== known.version) {
      const hash = createHash("sha256").update(head);
      for await (const chunk of chunksOf(file, size)) {
        signal.throwIfAborted();
        hash.update(chunk);
      }
      known = { version, digest: contentDigest(hash.update(tail).digest("base64")) };
    }
    return { sizeBytes: head.length + size + tail.length, digest: known.digest, chunks };
  };
}

function contentDigest(sha256: string): string {
  return `sha-256=:${sha256}:`;
}

/** Opens a recording. @throws {CommandError} when it can't be read, or is not a regular file */
async function openRecording(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK, opening a pipe without a writer would block forever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") throw new CommandError(`there is no file ${path}`);
    throw new CommandError(`can't read ${path}: ${code === "EACCES" ? "you lack the permission" : error}`);
  }
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw new CommandError(`${path} is ${stat.isDirectory() ? "a directory" : "not a regular file"}; name recordings`);
}

async function* chunksOf(file: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < sizeBytes; ) {
    const buffer = new Uint8Array(Math.min(CHUNK_BYTES, sizeBytes - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new Error("the recording became shorter while it was sent");
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Escapes a file name as in the HTML standard ("multipart/form-data encoding algorithm"). */
function quoted(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

/** Time without progress after which a connection counts as lost. TCP alone would detect it after about 15 minutes. */
const STALL_MILLISECONDS = 120_000;

/** Reports the progress of an upload and aborts a request that stalls, while the body is sent or after it. */
export class UploadMonitor implements Disposable {
  readonly #body: PreparedBody;
  readonly #onSent: (fraction: number) => void;
  readonly #stalled = new AbortController();
  #timer: Timer | undefined;
  /** Aborted with the caller's signal, or when the upload stalls. */
  readonly signal: AbortSignal;

  constructor(body: PreparedBody, onSent: (fraction: number) => void, signal: AbortSignal) {
    this.#body = body;
    this.#onSent = onSent;
    this.signal = AbortSignal.any([signal, this.#stalled.signal]);
    this.#restartTimer();
  }

  /** Returns the body for fetch, which requests a chunk when the network has accepted the previous one. */
  stream(): ReadableStream<Uint8Array> {
    const chunks = this.#body.chunks();
    let sent = 0;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await chunks.next();
          this.#restartTimer();
          if (done) return controller.close();
          sent += value.length;
          this.#onSent(sent / this.#body.sizeBytes);
          controller.enqueue(value);
        },
        cancel: () => void chunks.return(undefined),
      },
      { highWaterMark: 0 },
    );
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    const message = `no answer: the upload made no progress for ${STALL_MILLISECONDS / 1000} seconds`;
    const error = new ClientError(message, "no_answer");
    this.#timer = setTimeout(() => this.#stalled.abort(error), STALL_MILLISECONDS);
  }
}
