import { type FileHandle, open, rename, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { dirname } from "node:path";
import { syncDirectory } from "../../storage/index.ts";
import { messageOf } from "../../text/index.ts";
import { tooLarge } from "./check-answer.ts";
import { FetchError } from "./fetch-error.ts";
import { FIRST_BYTES, notARecording } from "./first-bytes.ts";

export interface StoreOptions {
  readonly host: string;
  readonly outputPath: string;
  readonly maxBytes: number;
  /** After an abort, no file is renamed into place. The caller has destroyed the response by then. */
  readonly signal: AbortSignal;
  /** Called with the size of each chunk and the total size so far, before the chunk is written. */
  readonly onBytes: (pieceBytes: number, sizeBytes: number) => void;
}

/**
 * Writes a response's body to a file and returns its size in bytes. The file appears complete and synced, or not at
 * all: it is written next to the final path as `.part`, which replaces one left by a crash. The next chunk is read
 * after the previous one is written, so a slow disk slows the sender.
 *
 * @throws {FetchError} when the body is refused or cannot be written
 * @throws the error with which the response was destroyed
 */
export async function storeBody(answer: IncomingMessage, options: StoreOptions): Promise<number> {
  const { outputPath } = options;
  const partPath = `${outputPath}.part`;
  try {
    const file = await open(partPath, "w", 0o600).catch(diskFault);
    try {
      const sizeBytes = await copy(answer, file, options);
      options.signal.throwIfAborted();
      await file.sync().catch(diskFault);
      await putInPlace(partPath, outputPath);
      return sizeBytes;
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(partPath, { force: true });
    throw error;
  }
}

async function putInPlace(partPath: string, outputPath: string): Promise<void> {
  await rename(partPath, outputPath).catch(diskFault);
  try {
    await syncDirectory(dirname(outputPath));
  } catch (cause) {
    await rm(outputPath, { force: true });
    diskFault(cause);
  }
}

async function copy(answer: IncomingMessage, file: FileHandle, options: StoreOptions): Promise<number> {
  const { host, maxBytes } = options;
  let sizeBytes = 0;
  let beginning: Uint8Array | null = new Uint8Array(0);
  for await (const piece of pieces(answer, host)) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > maxBytes) throw tooLarge(host, maxBytes, "more");
    options.onBytes(piece.byteLength, sizeBytes);
    if (beginning !== null) {
      beginning = Buffer.concat([beginning, piece.subarray(0, FIRST_BYTES - beginning.byteLength)]);
      if (beginning.byteLength === FIRST_BYTES) {
        refuseText(beginning, host);
        beginning = null;
      }
    }
    await writeWhole(file, piece).catch(diskFault);
  }
  if (beginning !== null) refuseText(beginning, host);
  if (sizeBytes === 0) throw new FetchError("fetch_empty", `${host} sent nothing`);
  return sizeBytes;
}

/** Yields the body's chunks, and throws `fetch_interrupted` if the connection is lost before the announced end. */
async function* pieces(answer: IncomingMessage, host: string): AsyncGenerator<Uint8Array> {
  try {
    yield* answer as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof FetchError) throw error;
    throw new FetchError("fetch_interrupted", `${host} broke off`, { cause: error });
  }
  if (!answer.complete) throw new FetchError("fetch_interrupted", `${host} broke off`);
}

function refuseText(beginning: Uint8Array, host: string): void {
  const what = notARecording(beginning);
  if (what === "playlist") throw new FetchError("fetch_playlist", `${host} sent a playlist`);
  if (what === "web page") throw new FetchError("fetch_web_page", `${host} sent a web page, not a recording`);
}

/** Writes all bytes. One write may be partial, for example near a full disk. */
async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    written += (await file.write(bytes, written, bytes.byteLength - written)).bytesWritten;
  }
}

function diskFault(cause: unknown): never {
  throw new FetchError("disk_full", `the file can't be written: ${messageOf(cause)}`, {
    cause,
  });
}
