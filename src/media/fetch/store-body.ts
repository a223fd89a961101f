import { type FileHandle, open, rename, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { dirname } from "node:path";
import { syncDirectory } from "../../files/index.ts";
import { messageOf } from "../../text/index.ts";
import { MediaError } from "../media-error.ts";
import { FIRST_BYTES, refuseText, tooLarge } from "./check-content.ts";

interface StoreOptions {
  readonly host: string;
  readonly outputPath: string;
  readonly maxBytes: number;
  /** After an abort, no file is renamed into place. The caller has destroyed the response by then. */
  readonly signal: AbortSignal;
  /** Called with the size of each chunk before the chunk is written. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Writes a response's body to a file and returns its size in bytes. The file appears complete and synced, or not at
 * all: it is written next to the final path as `.part`, which replaces one left by a crash. The next chunk is read
 * after the previous one is written, so a slow disk slows the sender.
 * @throws {MediaError} when the body is refused or cannot be written
 * @throws the error with which the response was destroyed
 */
export async function storeBody(response: IncomingMessage, options: StoreOptions): Promise<number> {
  const { outputPath } = options;
  const partPath = `${outputPath}.part`;
  try {
    const file = await open(partPath, "w", 0o600).catch(diskFault);
    try {
      const sizeBytes = await copy(response, file, options);
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

async function copy(response: IncomingMessage, file: FileHandle, options: StoreOptions): Promise<number> {
  const { host, maxBytes } = options;
  let sizeBytes = 0;
  let beginning: Uint8Array | null = new Uint8Array(0);
  for await (const chunk of chunksOf(response, host)) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw tooLarge(host, maxBytes, "more");
    options.onBytes(chunk.byteLength);
    if (beginning !== null) {
      beginning = Buffer.concat([beginning, chunk.subarray(0, FIRST_BYTES - beginning.byteLength)]);
      if (beginning.byteLength === FIRST_BYTES) {
        refuseText(beginning, host);
        beginning = null;
      }
    }
    // Unlike write, appendFile continues after a partial write on a nearly full disk.
    await file.appendFile(chunk).catch(diskFault);
  }
  if (beginning !== null) refuseText(beginning, host);
  if (sizeBytes === 0) throw new MediaError("fetch_empty", `${host} sent nothing`);
  return sizeBytes;
}

/** Yields the body's chunks, and throws `fetch_interrupted` if the connection is lost before the announced end. */
async function* chunksOf(response: IncomingMessage, host: string): AsyncGenerator<Uint8Array> {
  try {
    yield* response as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof MediaError) throw error;
    throw new MediaError("fetch_interrupted", `the connection to ${host} was lost`, { cause: error });
  }
  if (!response.complete) throw new MediaError("fetch_interrupted", `the connection to ${host} was lost`);
}

function diskFault(cause: unknown): never {
  throw new MediaError("disk_full", `the file can't be written: ${messageOf(cause)}`, { cause });
}
