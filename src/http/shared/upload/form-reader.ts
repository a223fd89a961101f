import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import type { SourceFile } from "../../../intake/index.ts";
import { cleanText, isSystemError } from "../../../text/index.ts";
import { composed } from "../content-disposition.ts";
import type { UploadFailure } from "./upload-failure.ts";

// A valid url has at most 2,048 characters, a prompt 2,000 of at most 4 bytes, and other values few. A value that was
// cut is therefore refused for its length.
const MAX_FIELD_BYTES = 8 * 1024;
// A form with hundreds of parts is meant to keep the parser busy.
const MAX_PARTS = 256;
const MAX_PART_HEADER_BYTES = 16 * 1024;

/** The parts of a form that are read. */
export interface FormParts {
  /** Name of the part with the recording; `file` by default. */
  readonly file?: string;
  /**
   * Returns the header that the file begins with on disk, for audio that is sent without one. It has the same length
   * for each size. The digest and the size limit are those of the sent bytes.
   */
  readonly header?: (sentBytes: number) => Uint8Array;
  /** Parts that may occur once. */
  readonly once: readonly string[];
  /** Parts that may be repeated. */
  readonly repeated?: readonly string[];
}

/** The text parts that may occur once. A value is cut at 8 KiB, which exceeds the length of any valid value. */
export type TextFields = Readonly<Record<string, string | undefined>>;

/**
 * A received recording under a temporary path, synced to disk. A file that is not renamed is removed when the upload is
 * disposed of. Its name is the client's: no folders, no control characters, at most 255 characters, never empty.
 */
export interface ReceivedFile extends SourceFile {
  /** SHA-256 of the sent bytes, in lower-case hex. */
  readonly sha256: string;
}

/** The parts of a form that was read to its end. */
interface ReadForm {
  readonly fields: TextFields;
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly file: ReceivedFile | null;
}

/**
 * Reads the parts of a form as its bytes arrive, and writes the recording to disk meanwhile.
 *
 * After the first failure it accepts no more bytes and stops writing. `close` then returns only that failure.
 */
export class FormReader {
  readonly #parser: BusboyInstance;
  readonly #filePath: string;
  readonly #maxFileBytes: number;
  readonly #seen = new Set<string>();
  readonly #parts: FormParts;
  readonly #fields: Record<string, string> = {};
  readonly #lists: Record<string, string[]> = {};
  #stream: BusboyFileStream | undefined;
  #stored: Promise<ReceivedFile | undefined> | undefined;
  #failure: UploadFailure | undefined;
  #unexpected: { readonly error: unknown } | undefined;
  // Resolves at the first failure. After a failure the parser may never call back, so code that waits for the parser
  // waits for this too.
  readonly #stopped = Promise.withResolvers<void>();

  /** Throws when the Content-Type is not a multipart form or has no boundary. */
  constructor(contentType: string, parts: FormParts, file: { readonly path: string; readonly maxBytes: number }) {
    this.#parts = parts;
    this.#filePath = file.path;
    this.#maxFileBytes = file.maxBytes;
    this.#parser = new Busboy({
      headers: { "content-type": contentType },
      // The server, not the sender, decides which parts are text. Unknown parts are streams, which are discarded as
      // they arrive.
      isPartAFile: (name) => name === undefined || !(this.#mayOccurOnce(name) || this.#mayRepeat(name)),
      limits: { fieldSize: MAX_FIELD_BYTES, parts: MAX_PARTS, headerSize: MAX_PART_HEADER_BYTES },
    });
    this.#parser.on("file", (name, stream, fileName) => this.#receiveStream(name, stream, fileName));
    this.#parser.on("field", (name, value) => this.#receiveField(name, value));
    this.#parser.on("partsLimit", () => this.fail({ kind: "too_many_parts", most: MAX_PARTS }));
    this.#parser.on("error", () => this.fail({ kind: "malformed" }));
  }

  /** The first failure; undefined if there is none. */
  get failure(): UploadFailure | undefined {
    return this.#failure;
  }

  /** Whether the form had any part so far. */
  get hasParts(): boolean {
    return this.#seen.size > 0;
  }

  /** Passes the next bytes to the parser. Resolves when the parser and the disk can accept more. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failed()) return;
    const accepted = new Promise<void>((resolve) => {
      this.#parser.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), () => resolve());
    });
    try {
      await Promise.race([accepted, this.#stopped.promise]);
    } catch {
      // The parser throws on some bytes that it can't decode, such as an unknown charset.
      this.fail({ kind: "malformed" });
    }
  }

  /** Stops reading with a failure found by the caller. An earlier failure takes precedence. */
  fail(failure: UploadFailure): void {
    this.#failure ??= failure;
    this.#stream?.destroy(new Error(failure.kind));
    this.#stopped.resolve();
  }

  /**
   * Ends the form and waits until the file is on disk or, after a failure, removed.
   * @throws the error of the file system, unless the disk was full
   */
  async close(): Promise<ReadForm | UploadFailure> {
    if (!this.#failed()) {
      const finished = new Promise<void>((resolve) => this.#parser.once("finish", resolve));
      this.#parser.end();
      await Promise.race([finished, this.#stopped.promise]);
    }
    const file = await this.#stored;
    if (this.#failure !== undefined) await rm(this.#filePath, { force: true });
    if (this.#unexpected !== undefined) throw this.#unexpected.error;
    return this.#failure ?? { fields: this.#fields, lists: this.#lists, file: file ?? null };
  }

  #failed(): boolean {
    return this.#failure !== undefined;
  }

  #receiveStream(name: string | undefined, stream: BusboyFileStream, fileName: string | undefined): void {
    // The parser ends a broken part with an error on its stream. It reports a malformed form separately.
    stream.on("error", () => {});
    // After a failure the parser still emits parts from the bytes that it accepted, but never the end of the last one.
    if (name !== this.#fileName || this.#failed() || !this.#claimPart(name)) {
      this.#seen.add(name ?? "");
      stream.resume();
      return;
    }
    this.#stream = stream;
    this.#stored = this.#store(stream, fileName);
  }

  async #store(stream: BusboyFileStream, fileName: string | undefined): Promise<ReceivedFile | undefined> {
    try {
      const written = await writeStream(stream, this.#filePath, this.#maxFileBytes, this.#parts.header);
      return { ...written, path: this.#filePath, name: cleanFileName(fileName) };
    } catch (error) {
      if (error instanceof FileTooLargeError) this.fail({ kind: "file_too_large" });
      else if (isFullDisk(error)) this.fail({ kind: "disk_full" });
      else if (this.#failure === undefined) {
        // Either the parser failed, which it reports next, or the file system failed.
        if (isSystemError(error)) this.#unexpected = { error };
        this.fail({ kind: "malformed" });
      }
      return undefined;
    }
  }

  #receiveField(name: string, value: string): void {
    if (this.#mayRepeat(name)) this.#lists[name] = [...(this.#lists[name] ?? []), value];
    else if (this.#mayOccurOnce(name) && this.#claimPart(name)) this.#fields[name] = value;
  }

  get #fileName(): string {
    return this.#parts.file ?? "file";
  }

  #mayOccurOnce(name: string): boolean {
    return this.#parts.once.includes(name);
  }

  #mayRepeat(name: string): boolean {
    return this.#parts.repeated?.includes(name) === true;
  }

  /** Marks a part as received. A repeated part is a failure. */
  #claimPart(part: string): boolean {
    if (this.#seen.has(part)) {
      this.fail({ kind: "duplicate_part", part });
      return false;
    }
    this.#seen.add(part);
    return true;
  }
}

/**
 * Returns whether an error means a full disk, an exhausted quota, or a file that exceeds the file system's or the
 * process's size limit.
 */
function isFullDisk(error: unknown): boolean {
  return isSystemError(error) && ["ENOSPC", "EDQUOT", "EFBIG"].includes(error.code ?? "");
}

const MAX_NAME_LENGTH = 255;

/**
 * Converts a client's file name to one that may be stored and shown: its last path component, with composed letters.
 * Control characters, marks that reorder text and hidden text are removed. The result has at most 255 characters, and is
 * `recording` if nothing remains.
 */
function cleanFileName(raw: string | undefined): string {
  const last = (raw ?? "").split(/[/\\]/).at(-1) ?? "";
  const clean = last
    // Browsers encode quotation marks and line breaks in file names like this (WHATWG HTML, "multipart form data").
    // Line breaks are dropped.
    .replace(/%22/g, '"')
    .replace(/%0[AaDd]/g, "")
    .replace(/[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028\u2029]/gu, "");
  const short = Array.from(cleanText(composed(clean), "as typed"))
    .slice(0, MAX_NAME_LENGTH)
    .join("");
  return /^\.*$/.test(short) ? "recording" : short;
}

/** Error for a file that exceeded its limit while it was written. */
class FileTooLargeError extends Error {
  override readonly name = "FileTooLargeError";
}

/**
 * Writes a stream to a new file, readable by the server's user only, and syncs it to disk. The next chunk is read only
 * when the last one is written, so a slow disk slows the sender and fills no memory.
 * @param header see FormParts
 * @returns the size of the file, and the SHA-256 of the stream's bytes in lower-case hex
 * @throws {FileTooLargeError} when the stream exceeds `maxBytes`
 * @throws the error of the stream or the file system; the file is removed after every error
 */
async function writeStream(
  stream: AsyncIterable<Uint8Array>,
  path: string,
  maxBytes: number,
  header: FormParts["header"] = () => new Uint8Array(),
): Promise<{ sizeBytes: number; sha256: string }> {
  const file = await open(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    let sizeBytes = 0;
    let begin = header(0);
    try {
      await file.appendFile(begin);
      for await (const chunk of stream) {
        sizeBytes += chunk.byteLength;
        if (sizeBytes > maxBytes) throw new FileTooLargeError(`the file is larger than ${maxBytes} bytes`);
        hash.update(chunk);
        // Unlike write, appendFile continues after a partial write on a nearly full disk.
        await file.appendFile(chunk);
      }
      begin = header(sizeBytes);
      await file.write(begin, 0, begin.byteLength, 0);
      await file.sync();
    } finally {
      await file.close();
    }
    return { sizeBytes: sizeBytes + begin.byteLength, sha256: hash.digest("hex") };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
