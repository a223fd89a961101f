import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";
import { entryOf, flatDirectories, isSameEntry, laneOf, listFiles } from "./data-files.ts";
import type { FileEntry } from "./messages.ts";

/**
 * Time within which a directory may change without another time of change. A listing that is not older than the change
 * by this much may lack the last entries.
 */
const CLOCK_MILLISECONDS = 50;
/** Interval between two looks at the sound of live sessions, which grows all the time. */
const LIVE_MILLISECONDS = 500;
/** Interval between two listings of the audio if whoever stores some tells so: others only remove audio. */
const LISTING_MILLISECONDS = 1_000;
/** Interval between two looks at all files of a lane. */
const URGENT_LOOK_MILLISECONDS = 10 * 60_000;
const BULK_LOOK_MILLISECONDS = 3_000;
/** Time without a change after which a work file is sent: it may still be written. */
const SETTLED_MILLISECONDS = 1_000;

/** Finds the files of a data directory that differ from those of its standby. */
export class FileChanges {
  readonly #paths: DataPaths;
  readonly #now: () => number;
  /** Paths of audio that was stored or removed; null if that is only known from listings. */
  readonly #changedAudio: Set<string> | null;
  /** The files of the standby by path, as it reported them, and those that were sent since. */
  readonly #theirs = new Map<string, FileEntry>();
  /** Names of the standby's files in flat directories. */
  readonly #theirNames = new Map<string, Set<string>>(flatDirectories.map((directory) => [directory, new Set()]));
  /** Times of change of the directories at their last listing; null if a listing must be repeated. */
  readonly #listedAt = new Map<string, number | null>();
  #nextListing = 0;
  /** Urgent files that are missing here. They are removed there after the transactions up to now. */
  readonly #missing = new Set<string>();
  #nextUrgentLook = 0;
  /** Files that differ from those of the standby by the last comparison of all; null before the first one. */
  #compared: FileEntry[] | null = null;
  #nextLiveLook = 0;
  #nextBulkLook = 0;

  /** @param knowsAudio whether all audio that is stored is reported by `audioChanged` */
  constructor(paths: DataPaths, now: () => number, knowsAudio: boolean) {
    this.#paths = paths;
    this.#now = now;
    this.#changedAudio = knowsAudio ? new Set() : null;
  }

  audioChanged(id: string): void {
    this.#changedAudio?.add(`uploads/${id}`);
  }

  /** Notes files that the standby has. */
  has(entries: readonly FileEntry[]): void {
    for (const entry of entries) this.note(entry.path, entry);
  }

  /** Notes what the standby has under a path; null for nothing. */
  note(path: string, entry: FileEntry | null): void {
    if (entry === null) this.#theirs.delete(path);
    else this.#theirs.set(path, entry);
    const names = this.#theirNames.get(dirname(path));
    if (entry === null) names?.delete(basename(path));
    else names?.add(basename(path));
  }

  /** Returns what the standby has under a path. */
  theirs(path: string): FileEntry | undefined {
    return this.#theirs.get(path);
  }

  differs(entry: FileEntry): boolean {
    const theirs = this.#theirs.get(entry.path);
    return theirs === undefined || !isSameEntry(theirs, entry);
  }

  /** Returns urgent files that are new or were changed, as of the time of the call. */
  async urgent(): Promise<FileEntry[]> {
    if (this.#now() >= this.#nextUrgentLook) {
      this.#nextUrgentLook = this.#now() + URGENT_LOOK_MILLISECONDS;
      const comparing = this.#compareAll();
      // Later comparisons only find what was exchanged under the same name, so nothing waits for them.
      if (this.#compared === null) await comparing;
      else comparing.catch(() => {});
    }
    return [...(this.#compared?.splice(0) ?? []), ...(await this.#newUrgent())];
  }

  /** Returns the files that are missing here, and forgets them. They may be removed after what is in the log now. */
  takeMissing(): string[] {
    const missing = [...this.#missing];
    this.#missing.clear();
    return missing;
  }

  /** Returns other files that differ, by their paths; null for those that are missing here. Looks every few seconds. */
  async bulk(): Promise<Map<string, FileEntry | null>> {
    const now = this.#now();
    const found = new Map<string, FileEntry | null>();
    if (now < this.#nextBulkLook) return found;
    this.#nextBulkLook = now + BULK_LOOK_MILLISECONDS;
    const here = new Set<string>();
    for await (const entry of listFiles(this.#paths, "bulk")) {
      here.add(entry.path);
      if (this.differs(entry) && entry.changedAt < now - SETTLED_MILLISECONDS) found.set(entry.path, entry);
    }
    for (const path of this.#theirs.keys()) {
      if (!here.has(path) && laneOf(path) === "bulk") found.set(path, null);
    }
    return found;
  }

  /** Compares all urgent files with those of the standby. */
  async #compareAll(): Promise<void> {
    const changed: FileEntry[] = [];
    const here = new Set<string>();
    for await (const entry of listFiles(this.#paths, "urgent")) {
      here.add(entry.path);
      if (this.differs(entry)) changed.push(entry);
    }
    for (const path of this.#theirs.keys()) if (!here.has(path) && laneOf(path) === "urgent") this.#missing.add(path);
    this.#compared = changed;
  }

  /** Returns the changes since the last call: those that the store of the audio told, and new names in directories. */
  async #newUrgent(): Promise<FileEntry[]> {
    const changed: FileEntry[] = [];
    const told = [...(this.#changedAudio ?? [])];
    this.#changedAudio?.clear();
    for (const path of told) {
      const entry = await entryOf(this.#paths.root, path);
      if (entry === null) this.#missing.add(path);
      else changed.push(entry);
    }
    for (const directory of flatDirectories) {
      if (directory === "uploads" && this.#changedAudio !== null) {
        if (this.#now() < this.#nextListing) continue;
        this.#nextListing = this.#now() + LISTING_MILLISECONDS;
      }
      if (await this.#hasChanged(directory)) changed.push(...(await this.#newIn(directory)));
    }
    return [...changed, ...(await this.#liveSound())];
  }

  /** Lists a flat directory, which may have a hundred thousand files. */
  async #newIn(directory: string): Promise<FileEntry[]> {
    const { root } = this.#paths;
    const names = await readdir(join(root, directory)).catch(emptyIfMissing);
    const theirs = this.#theirNames.get(directory) ?? new Set();
    const fresh = names.filter((name) => !theirs.has(name));
    if (names.length - fresh.length < theirs.size) {
      const here = new Set(names);
      for (const name of theirs) if (!here.has(name)) this.#missing.add(`${directory}/${name}`);
    }
    const paths = fresh.map((name) => `${directory}/${name}`).filter((path) => laneOf(path) === "urgent");
    const entries = await Promise.all(paths.map((path) => entryOf(root, path)));
    return entries.filter((entry) => entry !== null);
  }

  async #liveSound(): Promise<FileEntry[]> {
    if (this.#now() < this.#nextLiveLook) return [];
    this.#nextLiveLook = this.#now() + LIVE_MILLISECONDS;
    const { root } = this.#paths;
    const changed: FileEntry[] = [];
    const paths = (await readdir(join(root, "live")).catch(emptyIfMissing)).map((id) => `live/${id}/sound.pcm`);
    for (const path of paths.filter((each) => laneOf(each) === "urgent")) {
      const entry = await entryOf(root, path);
      if (entry !== null && this.differs(entry)) changed.push(entry);
    }
    const here = new Set(paths);
    for (const path of this.#theirs.keys()) if (path.startsWith("live/") && !here.has(path)) this.#missing.add(path);
    return changed;
  }

  /** Returns whether a directory may have other entries than at the last call. */
  async #hasChanged(directory: string): Promise<boolean> {
    const now = this.#now();
    const stats = await stat(join(this.#paths.root, directory)).catch(() => null);
    const changedAt = stats?.mtimeMs ?? 0;
    if (this.#listedAt.get(directory) === changedAt) return false;
    this.#listedAt.set(directory, changedAt < now - CLOCK_MILLISECONDS ? changedAt : null);
    return true;
  }
}

function emptyIfMissing(error: unknown): string[] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}
