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
  /** Where it is aborted, nothing is put in place any more; the caller has destroyed the answer then. */
  readonly signal: AbortSignal;
  /** Called with every piece's size and the size so far, before it is written. */
  readonly onBytes: (pieceBytes: number, sizeBytes: number) => void;
}

/**
 * Writes an answer's body to a file that is there, synced, when this resolves, and not at all otherwise: it grows under
 * another name beside it (`.part`, which takes the place of one that a crash left). Reads on when a piece is written, so a slow disk
 * slows the sender. Returns the size in bytes.
 *
 * Throws FetchError, or the error that the answer was destroyed with.
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

/** The body's pieces, with a connection that is lost before the announced end as a fault of its own. */
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

/** A write may take only a part, near a full disk for one. */
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
