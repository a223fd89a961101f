import { mkdirSync, rmdirSync } from "node:fs";
import { type FileHandle, open, rename, rm, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "../files/index.ts";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";
import { type Lane, requireLane } from "./data-files.ts";
import { type FileEntry, ProtocolError } from "./messages.ts";

/** A file that is being received. */
interface Arrival {
  readonly entry: FileEntry;
  readonly file: FileHandle;
  /** Path under which it is written: that of a new file, or its own if bytes are appended. */
  readonly path: string;
  at: number;
}

/** Writes the files that a standby receives. Each one appears complete under its name, or not at all. */
export class FileCopy {
  readonly #paths: DataPaths;
  readonly #arrivals: Record<Lane, Arrival | null> = { urgent: null, bulk: null };
  /** Directories whose entries have changed since the last sync. */
  readonly #changed = new Set<string>();

  constructor(paths: DataPaths) {
    this.#paths = paths;
  }

  /** @param from size that the file has already, if bytes are appended to it */
  async begin(lane: Lane, entry: FileEntry, from: number): Promise<void> {
    if (requireLane(entry.path) !== lane) throw new ProtocolError(`${entry.path} came with the wrong files`);
    if (this.#arrivals[lane] !== null) throw new ProtocolError("a file began within another one");
    if (from > entry.bytes) throw new ProtocolError("a file begins after its end");
    const target = this.#pathOf(entry.path);
    const path = from > 0 ? target : join(this.#paths.incoming, `standby-${lane}`);
    const file = await open(path, from > 0 ? "r+" : "w", 0o600);
    this.#arrivals[lane] = { entry, file, path, at: from };
    if (from > 0 && (await file.stat()).size < from) throw new ProtocolError(`${entry.path} is shorter here`);
  }

  async write(lane: Lane, bytes: Buffer): Promise<void> {
    const arrival = this.#arriving(lane);
    if (arrival.at + bytes.length > arrival.entry.bytes) throw new ProtocolError("a file is longer than announced");
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await arrival.file.write(bytes, written, bytes.length - written, arrival.at + written);
      written += bytesWritten;
    }
    arrival.at += bytes.length;
  }

  async end(lane: Lane, isComplete: boolean): Promise<void> {
    const { entry, file, path, at } = this.#arriving(lane);
    const target = this.#pathOf(entry.path);
    if (isComplete && at !== entry.bytes) throw new ProtocolError("a file is shorter than announced");
    this.#arrivals[lane] = null;
    await file.datasync();
    await file.close();
    if (!isComplete) {
      if (path !== target) await rm(path, { force: true });
      return;
    }
    const changedAt = entry.changedAt / 1000;
    await utimes(path, changedAt, changedAt);
    if (path === target) return;
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
    for (const lane of ["urgent", "bulk"] as const) {
      await this.#arrivals[lane]?.file.close();
      this.#arrivals[lane] = null;
      await rm(join(this.#paths.incoming, `standby-${lane}`), { force: true });
    }
  }

  #pathOf(path: string): string {
    return join(this.#paths.root, path);
  }

  #arriving(lane: Lane): Arrival {
    const arrival = this.#arrivals[lane];
    if (arrival === null) throw new ProtocolError("content came without its file");
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
