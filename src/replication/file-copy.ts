import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { type FileHandle, open, rename, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "../files/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";
import { requireLane } from "./data-files.ts";
import { type Content, type FileEntry, ProtocolError } from "./messages.ts";

/** Maximum number of files that arrive at the same time. */
const MAX_ARRIVALS = 256;
/** Size of the parts that are written to the disk in the background, so that the end of a large file is quick. */
const SYNC_BYTES = 4 * 1024 * 1024;
/** Bytes of a file that are not on the disk, beyond which the server sends no more. */
const MAX_UNSYNCED_BYTES = 16 * 1024 * 1024;

/** A file that is being received. */
interface Arrival {
  readonly file: FileHandle;
  /** Path under which it is written: a temporary one, or that of the file to which bytes are appended. */
  readonly path: string;
  /** Path in the data directory of the file to which bytes are appended; null for a new file. */
  readonly appendTo: string | null;
  at: number;
  unsyncedBytes: number;
  /** The write to the disk in progress. It never fails; `failure` has its error. */
  syncing: Promise<void> | null;
  failure: { readonly error: unknown } | null;
}

/** Writes the files that a standby receives. Each one appears complete under its name, or not at all. */
export class FileCopy {
  readonly #paths: DataPaths;
  readonly #onStored: (bytes: number) => void;
  /** Directory of the files that are not complete. */
  readonly #draft: string;
  readonly #arrivals = new Map<number, Arrival>();
  #writtenBytes = 0;
  /** Directories whose entries have changed since the last sync. */
  readonly #changed = new Set<string>();

  /** @param onStored called with the number of bytes of content that were written in all, unless the disk is slow */
  constructor(paths: DataPaths, onStored: (bytes: number) => void) {
    this.#paths = paths;
    this.#onStored = onStored;
    this.#draft = join(paths.incoming, "standby-files");
    // A crash may have left some.
    rmSync(this.#draft, { recursive: true, force: true });
  }

  /**
   * @param appendTo path of a file to which bytes are appended; null for a new file
   * @param from size that the file has already
   */
  async begin(number: number, appendTo: string | null, from: number): Promise<void> {
    if (appendTo !== null) requireLane(appendTo);
    else if (from > 0) throw new ProtocolError("a new file begins with its first byte");
    if (this.#arrivals.has(number)) throw new ProtocolError("a file began twice");
    if (this.#arrivals.size >= MAX_ARRIVALS) throw new ProtocolError("too many files began");
    if (appendTo === null) mkdirSync(this.#draft, { recursive: true, mode: 0o700 });
    const path = appendTo === null ? join(this.#draft, `${number}`) : this.#pathOf(appendTo);
    const file = await open(path, appendTo === null ? "w" : "r+", 0o600);
    const arrival = { file, path, appendTo, at: from, unsyncedBytes: 0, syncing: null, failure: null };
    this.#arrivals.set(number, arrival);
    if ((await file.stat()).size < from) throw new ProtocolError(`${appendTo} is shorter here`);
  }

  async write({ number, position, bytes }: Content): Promise<void> {
    const arrival = this.#arriving(number);
    if (arrival.failure !== null) throw arrival.failure.error;
    if (position > arrival.at) throw new ProtocolError("a part of a file is missing");
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await arrival.file.write(bytes, written, bytes.length - written, position + written);
      written += bytesWritten;
    }
    arrival.at = Math.max(arrival.at, position + bytes.length);
    arrival.unsyncedBytes += bytes.length;
    this.#writtenBytes += bytes.length;
    if (arrival.unsyncedBytes >= SYNC_BYTES && arrival.syncing === null) arrival.syncing = this.#sync(arrival);
    this.#report();
  }

  /** @param entry the name, the size and the time of the file; null if it must be dropped */
  async end(number: number, entry: FileEntry | null): Promise<void> {
    const arrival = this.#arriving(number);
    const { file, path, appendTo, at } = arrival;
    if (entry !== null) {
      requireLane(entry.path);
      if (at !== entry.bytes) throw new ProtocolError("a file is shorter or longer than announced");
      if (appendTo !== null && appendTo !== entry.path) throw new ProtocolError("bytes were appended to another file");
    }
    await arrival.syncing;
    this.#arrivals.delete(number);
    try {
      if (arrival.failure !== null) throw arrival.failure.error;
      if (entry !== null || appendTo !== null) await file.datasync();
    } finally {
      await file.close();
    }
    if (entry === null) {
      if (appendTo === null) await rm(path, { force: true });
      return;
    }
    const changedAt = entry.changedAt / 1000;
    await utimes(path, changedAt, changedAt);
    if (appendTo !== null) return;
    const target = this.#pathOf(entry.path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    await rename(path, target);
    this.#changed.add(dirname(target)).add(dirname(dirname(target)));
  }

  /** Removes a file, and its directory if it was the last one. */
  async remove(path: string): Promise<void> {
    requireLane(path);
    const target = this.#pathOf(path);
    await rm(target, { force: true });
    this.#changed.add(dirname(target));
    // The directory of a recording, a session or a model; those above are always there.
    for (let directory = dirname(path); directory.split("/").length > 1; directory = dirname(directory)) {
      if (directory === "state/audio" || directory === "state/audio/removed" || directory === "models/installed") break;
      if (!removeIfEmpty(join(this.#paths.root, directory))) break;
      this.#changed.delete(join(this.#paths.root, directory));
      this.#changed.add(join(this.#paths.root, dirname(directory)));
    }
  }

  /** Makes the names of all files durable, and removals. */
  async sync(): Promise<void> {
    const directories = [...this.#changed];
    this.#changed.clear();
    for (const directory of directories) {
      await syncDirectory(directory).catch((error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error;
      });
    }
  }

  /** Drops what was not received completely. */
  async close(): Promise<void> {
    for (const { file, syncing } of this.#arrivals.values()) {
      await syncing;
      await file.close();
    }
    this.#arrivals.clear();
    rmSync(this.#draft, { recursive: true, force: true });
  }

  /** Writes a file to the disk, while more of it arrives. */
  async #sync(arrival: Arrival): Promise<void> {
    while (arrival.unsyncedBytes >= SYNC_BYTES) {
      const bytes = arrival.unsyncedBytes;
      try {
        await arrival.file.datasync();
      } catch (error) {
        // A later attempt would succeed, although the bytes are lost.
        arrival.failure ??= { error };
      }
      arrival.unsyncedBytes -= bytes;
      this.#report();
    }
    arrival.syncing = null;
  }

  #report(): void {
    const isSlow = [...this.#arrivals.values()].some(({ unsyncedBytes }) => unsyncedBytes > MAX_UNSYNCED_BYTES);
    if (!isSlow) this.#onStored(this.#writtenBytes);
  }

  #pathOf(path: string): string {
    return join(this.#paths.root, path);
  }

  #arriving(number: number): Arrival {
    const arrival = this.#arrivals.get(number);
    if (arrival === undefined) throw new ProtocolError("content came without its file");
    return arrival;
  }
}

function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    if (["ENOTEMPTY", "EEXIST"].includes(codeOf(error))) return false;
    throw error;
  }
}
