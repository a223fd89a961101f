import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { CommandError } from "../command-error.ts";

const pieceBytes = 256 * 1024;

/** A multipart body that can be sent repeatedly, and whose length and digest are known in advance. */
export interface UploadForm {
  readonly contentType: string;
  /** Reads the recording's state again, as it may have changed since the last attempt. @throws {CommandError} */
  prepare(signal: AbortSignal): Promise<PreparedBody>;
}

export interface PreparedBody {
  readonly sizeBytes: number;
  /** Value of `Content-Digest` (RFC 9530). */
  readonly digest: string;
  /** Reads the body's bytes on demand. @throws {Error} when the recording becomes shorter meanwhile */
  stream(): AsyncGenerator<Uint8Array>;
}

/** Returns the form for a recording, given by a file's path or an http(s) URL. */
export function uploadForm(input: string, language: string | undefined): UploadForm {
  const boundary = `transcribe-${randomUUID()}`;
  const fields = language === undefined ? "" : field(boundary, "language", language);
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const end = `--${boundary}--\r\n`;
  if (isLink(input)) {
    const body = Buffer.from(fields + field(boundary, "url", input) + end);
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    const stream = async function* () {
      yield new Uint8Array(body);
    };
    return { contentType, prepare: async () => ({ sizeBytes: body.length, digest, stream }) };
  }
  const head = Buffer.from(
    `${fields}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${quoted(basename(input))}"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n",
  );
  return { contentType, prepare: fileBody(input, head, Buffer.from(`\r\n${end}`)) };
}

/** Returns whether an input of the command line is a URL rather than a file. */
export function isLink(input: string): boolean {
  return /^https?:\/\//i.test(input);
}

function fileBody(path: string, head: Buffer, tail: Buffer): UploadForm["prepare"] {
  let known = { version: "", digest: "" };
  return async (signal) => {
    await using file = await openRecording(path);
    const { size, mtimeMs, ino } = await file.stat();
    const stream = async function* () {
      yield new Uint8Array(head);
      await using again = await openRecording(path);
      yield* pieces(again, size);
      yield new Uint8Array(tail);
    };
    const version = `${ino} ${size} ${mtimeMs}`;
    if (version !== known.version) {
      const hash = createHash("sha256").update(head);
      for await (const piece of pieces(file, size)) {
        signal.throwIfAborted();
        hash.update(piece);
      }
      known = { version, digest: `sha-256=:${hash.update(tail).digest("base64")}:` };
    }
    return { sizeBytes: head.length + size + tail.length, digest: known.digest, stream };
  };
}

/** Opens a recording. @throws {CommandError} when it can't be read, or is not a regular file */
async function openRecording(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK, opening a pipe without a writer would block forever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT") throw new CommandError(`there is no file ${path}`);
    throw new CommandError(`can't read ${path}: ${code === "EACCES" ? "you may not (its rights forbid it)" : error}`);
  }
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  throw new CommandError(`${path} is ${stat.isDirectory() ? "a directory" : "no plain file"}; name recordings`);
}

async function* pieces(file: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < sizeBytes; ) {
    const buffer = new Uint8Array(Math.min(pieceBytes, sizeBytes - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new Error("the recording got shorter while it was sent");
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function field(boundary: string, name: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

/** Escapes a file name as in the HTML standard ("multipart/form-data encoding algorithm"). */
function quoted(name: string): string {
  return name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
