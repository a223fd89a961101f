import { rm } from "node:fs/promises";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { cleanFileName } from "./file-name.ts";
import { FileTooLargeError, writeStream } from "./file-sink.ts";
import type { KnownPart, ReceivedFile, UploadFailure } from "./upload-result.ts";

// A valid url has at most 2,048 characters and a language three: a cut value is refused by its length.
const MAX_FIELD_BYTES = 8 * 1024;
// Three parts are known; a form of hundreds is built to keep the parser busy.
const MAX_PARTS = 256;
const MAX_PART_HEADER_BYTES = 16 * 1024;

/**
 * Reads the parts of one form as its bytes come, and writes the part `file` to disk on the way.
 *
 * After the first failure it takes no more bytes, has stopped writing, and `close` has nothing to give but that failure.
 */
export class FormReader {
  readonly #parser: BusboyInstance;
  readonly #filePath: string;
  readonly #maxFileBytes: number;
  readonly #seen = new Set<string>();
  readonly #fields: { url?: string; language?: string } = {};
  #stream: BusboyFileStream | undefined;
  #storing: Promise<ReceivedFile | undefined> | undefined;
  #failure: UploadFailure | undefined;
  #unexpected: { readonly error: unknown } | undefined;
  // Settles with the first failure: what waits for the parser, which may never call back then, waits for this too.
  readonly #stopped = Promise.withResolvers<void>();

  /** Takes the request's Content-Type. Throws where it is no multipart form, or has no boundary. */
  constructor(contentType: string, filePath: string, maxFileBytes: number) {
    this.#filePath = filePath;
    this.#maxFileBytes = maxFileBytes;
    this.#parser = new Busboy({
      headers: { "content-type": contentType },
      // Which parts are text is ours to say, not the sender's; those not known are streams, thrown away as they come.
      isPartAFile: (name) => name !== "url" && name !== "language",
      limits: { fieldSize: MAX_FIELD_BYTES, parts: MAX_PARTS, headerSize: MAX_PART_HEADER_BYTES },
    });
    this.#parser.on("file", (name, stream, fileName) => this.#takeStream(name, stream, fileName));
    this.#parser.on("field", (name, value) => this.#takeField(name, value));
    this.#parser.on("partsLimit", () => this.fail({ kind: "malformed" }));
    this.#parser.on("error", () => this.fail({ kind: "malformed" }));
  }

  /** The first failure, undefined while all is well. */
  get failure(): UploadFailure | undefined {
    return this.#failure;
  }

  /** Whether any part was seen. */
  get hasParts(): boolean {
    return this.#seen.size > 0;
  }

  /** Gives the parser the next bytes; resolves when it, and the disk behind it, can take more. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failed()) return;
    const taken = new Promise<void>((resolve) => {
      this.#parser.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), () => resolve());
    });
    try {
      await Promise.race([taken, this.#stopped.promise]);
    } catch {
      // The parser throws on some bytes that it can't decode, such as a charset that doesn't exist.
      this.fail({ kind: "malformed" });
    }
  }

  /** Ends reading for a reason of the caller's; the first failure stays. */
  fail(failure: UploadFailure): void {
    this.#failure ??= failure;
    this.#stream?.destroy(new Error(failure.kind));
    this.#stopped.resolve();
  }

  /**
   * Says that no more bytes come, and waits for the file to be on disk or, after a failure, gone from it.
   * Throws what the file system threw, where that was not a full disk.
   */
  async close(): Promise<{ fields: { url?: string; language?: string }; file: ReceivedFile | null } | UploadFailure> {
    if (!this.#failed()) {
      const finished = new Promise<void>((resolve) => this.#parser.once("finish", resolve));
      this.#parser.end();
      await Promise.race([finished, this.#stopped.promise]);
    }
    const file = await this.#storing;
    if (this.#failure !== undefined) await rm(this.#filePath, { force: true });
    if (this.#unexpected !== undefined) throw this.#unexpected.error;
    return this.#failure ?? { fields: this.#fields, file: file ?? null };
  }

  #failed(): boolean {
    return this.#failure !== undefined;
  }

  #takeStream(name: string | undefined, stream: BusboyFileStream, fileName: string | undefined): void {
    // The parser breaks off a part by an error on its stream; that the form is malformed, it says itself.
    stream.on("error", () => {});
    // After a failure the parser still has parts of the bytes that it took, and never the end of the last.
    if (name !== "file" || this.#failed() || !this.#firstOf("file")) {
      this.#seen.add(name ?? "");
      stream.resume();
      return;
    }
    this.#stream = stream;
    this.#storing = this.#store(stream, fileName);
  }

  async #store(stream: BusboyFileStream, fileName: string | undefined): Promise<ReceivedFile | undefined> {
    try {
      const written = await writeStream(stream, this.#filePath, this.#maxFileBytes);
      return { ...written, path: this.#filePath, name: cleanFileName(fileName) };
    } catch (error) {
      if (error instanceof FileTooLargeError) this.fail({ kind: "file_too_large" });
      else if (isFullDisk(error)) this.fail({ kind: "disk_full" });
      else if (this.#failure === undefined) {
        // Either the parser broke off, which it tells in a moment, or the file system failed.
        if (isSystemError(error)) this.#unexpected = { error };
        this.fail({ kind: "malformed" });
      }
      return undefined;
    }
  }

  #takeField(name: string, value: string): void {
    if ((name === "url" || name === "language") && this.#firstOf(name)) this.#fields[name] = value;
  }

  #firstOf(part: KnownPart): boolean {
    if (this.#seen.has(part)) {
      this.fail({ kind: "duplicate_part", part });
      return false;
    }
    this.#seen.add(part);
    return true;
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** A full disk, a spent quota, or a file that this file system or process may not let grow so long. */
function isFullDisk(error: unknown): boolean {
  return isSystemError(error) && ["ENOSPC", "EDQUOT", "EFBIG"].includes(error.code ?? "");
}
