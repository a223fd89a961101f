import { constants } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isDiskFull } from "../storage/index.ts";
import { messageOf } from "../text/index.ts";
import { requireSpace } from "./disk-space.ts";
import { LibraryError } from "./library-error.ts";

/** How long a server may take to answer at all before the next source is tried. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a download may stand still. */
const STALL_TIMEOUT_MS = 30_000;
/** Failures in a row after which a download is given up: at its beginning, and once something has come. */
const PATIENCE = { first: 2, later: 6 } as const;

export interface DownloadOptions {
  readonly url: string;
  /** Where it goes; what is there is taken for its beginning and gone on with. */
  readonly path: string;
  /** How large it is, about; so much room is asked for before anything is written. */
  readonly expectedBytes: number;
  /** Whether a file of so many bytes can be the one that is wanted. */
  readonly sizeFits: (bytes: number) => boolean;
  /** @param total null while it is not known */
  readonly onProgress?: (received: number, total: number | null) => void;
  /** Waits before the next try, by the number of failures in a row. */
  readonly pause?: (failures: number) => Promise<void>;
}

/** Throws where the server does not answer a HEAD request within five seconds; any answer will do, a redirect included. */
export async function requireAnswer(url: string): Promise<void> {
  try {
    await fetch(url, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  } catch (error) {
    throw new Error(`${new URL(url).hostname} can't be reached (${messageOf(error)})`);
  }
}

/**
 * Downloads a file, going on where an earlier try ended, as often as it takes while something comes. A server that does not
 * know of parts makes it begin again. What has come is on disk when this returns; whether it is right is for its digest to
 * say. The environment's HTTP_PROXY, HTTPS_PROXY and NO_PROXY count.
 * @throws {LibraryError} where the server refuses, sends a file of another size, or can't be reached for good; and for a full
 * disk, after which nothing is kept
 */
export async function download(options: DownloadOptions): Promise<void> {
  const pause = options.pause ?? ((failures: number) => Bun.sleep(Math.min(30_000, 500 * 2 ** failures)));
  const host = new URL(options.url).hostname;
  let failures = 0;
  for (;;) {
    const before = await sizeOf(options.path);
    try {
      if (await receive(options, host, before)) return;
      failures = 0;
    } catch (error) {
      if (isDiskFull(error)) {
        await rm(options.path, { force: true });
        throw new LibraryError("the disk got full, so what had come was removed; make room and pull it again");
      }
      if (error instanceof LibraryError) throw error;
      const after = await sizeOf(options.path);
      failures = after > before ? 1 : failures + 1;
      if (failures >= (after > 0 ? PATIENCE.later : PATIENCE.first)) {
        throw new LibraryError(`${host} can't be reached (${reasonOf(error)})`);
      }
      await pause(failures);
    }
  }
}

/** Bun's hints are for programmers. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/\.? For more information.*$/s, "");
}

/** One request. @returns whether the file is whole; false where it has to begin again */
async function receive(
  { url, path, expectedBytes, sizeFits, onProgress }: DownloadOptions,
  host: string,
  have: number,
): Promise<boolean> {
  const abort = new AbortController();
  const stall = () => abort.abort(new Error(`it stood still for ${STALL_TIMEOUT_MS / 1_000} s`));
  let timer = setTimeout(stall, STALL_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      headers: { "Accept-Encoding": "identity", ...(have > 0 ? { Range: `bytes=${have}-` } : {}) },
      signal: abort.signal,
      // Bun gives up after five minutes otherwise, however fast it comes.
      timeout: false,
    });
    const place = have > 0 ? placeOf(response, have) : "whole";
    if (place === "complete") return true;
    if (place === "elsewhere") {
      await rm(path);
      return false;
    }
    if (response.status >= 500 || response.status === 429) throw new Error(`it answered ${response.status}`);
    if (!response.ok || !response.body) throw new LibraryError(`${host} answered ${response.status}`);
    const start = place === "whole" ? 0 : have;
    const length = response.headers.get("content-length");
    const total = length === null ? null : start + Number(length);
    const otherSize = () => new LibraryError(`${host} has a file of another size than that of the model`);
    if (total !== null && !sizeFits(total)) throw otherSize();
    await requireSpace(dirname(path), (total ?? expectedBytes) - start);
    // Never through a link: root downloads into a directory that the server's user can change.
    const begin = start === 0 ? constants.O_TRUNC : constants.O_APPEND;
    const output = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | begin);
    let received = start;
    try {
      for await (const piece of response.body) {
        clearTimeout(timer);
        timer = setTimeout(stall, STALL_TIMEOUT_MS);
        await output.appendFile(piece);
        received += piece.length;
        onProgress?.(received, total);
        // A server that names no length must not fill the disk.
        if (total === null && received > 2 * expectedBytes) throw otherSize();
      }
      if (total !== null && received < total) throw new Error("the connection broke off");
      await output.sync();
    } finally {
      await output.close();
    }
    if (!sizeFits(received)) throw otherSize();
    return true;
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/** What a server made of the wish for the rest (RFC 9110, 14 and 15.5.17): that, the whole file, nothing, or neither. */
function placeOf(response: Response, have: number): "part" | "whole" | "complete" | "elsewhere" {
  const range = response.headers.get("content-range");
  if (response.status === 416) return range === `bytes */${have}` ? "complete" : "elsewhere";
  if (response.status !== 206) return "whole";
  return range?.startsWith(`bytes ${have}-`) ? "part" : "elsewhere";
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
