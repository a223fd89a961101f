import { constants } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { machineTrouble } from "../disk/index.ts";
import { messageOf } from "../text/index.ts";
import { type ModelEntry, publishedSize, sizeFits } from "./catalogue.ts";
import { ModelError, requireSpace } from "./model-error.ts";

/** Maximum time without received data during a download. */
const STALL_TIMEOUT_MS = 30_000;
/** Number of consecutive failures after which a download fails: while no data is stored, and after that. */
const MAX_FAILURES = { withoutData: 2, withData: 6 } as const;

interface DownloadOptions {
  /** The model; its published size limits the download. */
  readonly entry: ModelEntry;
  readonly url: string;
  /** Destination path. An existing file is taken as the beginning of the download, which is resumed. */
  readonly path: string;
  /** @param total null while unknown */
  readonly onProgress?: (received: number, total: number | null) => void;
  /** Waits before a retry; the delay depends on the number of consecutive failures. */
  readonly pause?: (failures: number) => Promise<void>;
}

/**
 * Downloads a file and resumes an earlier attempt. Retries without limit as long as attempts receive data. If the
 * server does not support range requests, the download restarts from the beginning. When this returns, the data is on
 * disk; the caller checks the digest. The environment's HTTP_PROXY, HTTPS_PROXY and NO_PROXY apply.
 * @throws {ModelError} when the server refuses the request, sends a file of another size or stays unreachable; when
 * disk space is insufficient; and when the disk is full, after which the partial file is deleted
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
      if (machineTrouble(error)?.kind === "disk_full") {
        await rm(options.path, { force: true });
        throw new ModelError(
          "the disk is full and the partial download was deleted; free disk space and pull the model again",
        );
      }
      if (error instanceof ModelError) throw error;
      const after = await sizeOf(options.path);
      failures = after > before ? 1 : failures + 1;
      if (failures >= (after > 0 ? MAX_FAILURES.withData : MAX_FAILURES.withoutData)) {
        throw new ModelError(`${host} can't be reached (${reasonOf(error)})`);
      }
      await pause(failures);
    }
  }
}

/** Returns an error's message without Bun's hint "For more information…", which is for programmers. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/\.? For more information.*$/s, "");
}

/** Makes one request. @returns true when the file is complete, false when the download must restart */
async function receive(
  { entry, url, path, onProgress }: DownloadOptions,
  host: string,
  storedBytes: number,
): Promise<boolean> {
  const abort = new AbortController();
  const stall = () => abort.abort(new Error(`no data arrived for ${STALL_TIMEOUT_MS / 1_000} s`));
  let timer = setTimeout(stall, STALL_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      headers: { "Accept-Encoding": "identity", ...(storedBytes > 0 && { Range: `bytes=${storedBytes}-` }) },
      signal: abort.signal,
      // By default, Bun aborts after five minutes, even while data arrives.
      timeout: false,
    });
    const content = storedBytes > 0 ? contentOf(response, storedBytes) : "whole";
    if (content === "nothing") return true;
    if (content === "other") {
      await rm(path);
      return false;
    }
    if (response.status >= 500 || response.status === 429) throw new Error(`it answered ${response.status}`);
    if (!response.ok || !response.body) throw new ModelError(`${host} answered ${response.status}`);
    const start = content === "whole" ? 0 : storedBytes;
    const expectedBytes = publishedSize(entry).bytes;
    const length = response.headers.get("content-length");
    const total = length === null ? null : start + Number(length);
    const otherSize = () => new ModelError(`${host} has a file of another size than that of the model`);
    if (total !== null && !sizeFits(entry, total)) throw otherSize();
    await requireSpace(dirname(path), (total ?? expectedBytes) - start);
    // O_NOFOLLOW: root downloads into a directory that the server's user can change.
    const begin = start === 0 ? constants.O_TRUNC : constants.O_APPEND;
    const output = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | begin);
    let received = start;
    try {
      for await (const chunk of response.body) {
        clearTimeout(timer);
        timer = setTimeout(stall, STALL_TIMEOUT_MS);
        await output.appendFile(chunk);
        received += chunk.length;
        onProgress?.(received, total);
        // A server that reports no length must not fill the disk.
        if (total === null && received > 2 * expectedBytes) throw otherSize();
      }
      if (total !== null && received < total) throw new Error("the connection closed early");
      await output.sync();
    } finally {
      await output.close();
    }
    if (!sizeFits(entry, received)) throw otherSize();
    return true;
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

/**
 * Classifies the response to a range request (RFC 9110, 14 and 15.5.17): the requested rest, the whole file, nothing
 * because the file is complete, or another range.
 */
function contentOf(response: Response, storedBytes: number): "rest" | "whole" | "nothing" | "other" {
  const range = response.headers.get("content-range");
  if (response.status === 416) return range === `bytes */${storedBytes}` ? "nothing" : "other";
  if (response.status !== 206) return "whole";
  return range?.startsWith(`bytes ${storedBytes}-`) ? "rest" : "other";
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
