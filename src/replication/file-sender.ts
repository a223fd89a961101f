import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";
import type { Channel } from "./channel.ts";
import { entryOf, flatDirectories, isSameEntry, laneOf, listFiles, toEntry } from "./data-files.ts";
import type { FileEntry, ServerMessage } from "./messages.ts";
import { identityOf, type Transfer, Transfers } from "./transfers.ts";
import { UnfinishedUploads } from "./unfinished-uploads.ts";

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

interface FileSenderOptions {
  readonly now: () => number;
  /** Whether only this process stores audio, through the store of the paths. */
  readonly knowsAudio: boolean;
  /** Maximum time that a create waits until its audio was sent, in milliseconds; null for no limit. */
  readonly maxAudioWait: () => number | null;
  /** Called when somebody waits for a file. */
  readonly onWork: () => void;
}

/** Sends the files of a data directory, and their changes, to a standby. */
export class FileSender {
  readonly #paths: DataPaths;
  readonly #channel: Channel<ServerMessage>;
  readonly #now: () => number;
  /** Paths of audio that was stored or removed; null if that is only known from listings. */
  readonly #changedAudio: Set<string> | null;
  /** What the standby has, by path: what it reported, and what was sent since. */
  readonly #theirs = new Map<string, FileEntry>();
  /** Names of the standby's files in flat directories. */
  readonly #theirNames = new Map<string, Set<string>>(flatDirectories.map((directory) => [directory, new Set()]));
  /** Times of change of the directories at their last listing; null if a listing must be repeated. */
  readonly #listedAt = new Map<string, number | null>();
  #nextListing = 0;
  /** Urgent files that are missing here. They are removed there after the transactions up to now. */
  readonly #missing = new Set<string>();
  readonly #bulk = new Map<string, FileEntry | null>();
  readonly #transfers: Transfers;
  readonly #uploads: UnfinishedUploads;
  /** The other file that is being sent. */
  #sending: { readonly entry: FileEntry; readonly transfer: Transfer } | null = null;
  #isClosed = false;
  #nextUrgentLook = 0;
  /** Files that differ from those of the standby by the last comparison of all; null before the first one. */
  #compared: FileEntry[] | null = null;
  #nextLiveLook = 0;
  #nextBulkLook = 0;

  constructor(paths: DataPaths, channel: Channel<ServerMessage>, options: FileSenderOptions) {
    const { now, knowsAudio, maxAudioWait, onWork } = options;
    const changed = new Set<string>();
    const transfers = new Transfers(channel);
    const uploads = new UnfinishedUploads(paths, transfers, now, onWork);
    if (knowsAudio) {
      paths.localAudio.watch({
        changed: (id) => void (this.#isClosed || changed.add(`uploads/${id}`)),
        async prepared(path) {
          const sent = uploads.sent(path).catch(() => {});
          const limit = maxAudioWait();
          await (limit === null ? sent : Promise.race([sent, sleep(limit, undefined, { ref: false })]));
        },
      });
    }
    this.#changedAudio = knowsAudio ? changed : null;
    this.#paths = paths;
    this.#channel = channel;
    this.#now = now;
    this.#transfers = transfers;
    this.#uploads = uploads;
  }

  /** Notes files that the standby has. */
  has(entries: readonly FileEntry[]): void {
    for (const entry of entries) this.#note(entry.path, entry);
  }

  /** Notes what the standby has under a path; null for nothing. */
  #note(path: string, entry: FileEntry | null): void {
    if (entry === null) this.#theirs.delete(path);
    else this.#theirs.set(path, entry);
    const names = this.#theirNames.get(dirname(path));
    if (entry === null) names?.delete(basename(path));
    else names?.add(basename(path));
  }

  /**
   * Sends urgent files that are new or were changed, as of the time of the call. A recording's audio is stored before
   * its record is. So whoever reads the database's log first, calls this and then sends the log has sent the audio of all
   * records in it.
   */
  async sendUrgent(): Promise<void> {
    if (this.#now() >= this.#nextUrgentLook) {
      this.#nextUrgentLook = this.#now() + URGENT_LOOK_MILLISECONDS;
      const comparing = this.#compareAll();
      // Later comparisons only find what was exchanged under the same name, so nothing waits for them.
      if (this.#compared === null) await comparing;
      else comparing.catch(() => {});
    }
    const found = [...(this.#compared?.splice(0) ?? []), ...(await this.#newUrgent())];
    for (const entry of found) if (this.#differs(entry)) await this.#sendWhole(entry);
  }

  /** Returns the files that are missing here, and forgets them. They may be removed after what is in the log now. */
  takeMissing(): string[] {
    const missing = [...this.#missing];
    this.#missing.clear();
    return missing;
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if ((await entryOf(this.#paths.root, path)) !== null) continue;
      this.#note(path, null);
      await this.#channel.send({ type: "remove", path });
    }
  }

  /** Sends one piece of an upload, or of the other files. @returns false if there is none, or if it would be too early */
  async sendPiece(): Promise<boolean> {
    return (await this.#uploads.sendPiece()) || (await this.#sendBulkPiece());
  }

  /** Notes what the standby has written. @throws {ProtocolError} */
  stored(bytes: number): void {
    this.#transfers.window.stored(bytes);
  }

  async #sendBulkPiece(): Promise<boolean> {
    if (!this.#transfers.window.isOpen) return false;
    if (this.#sending !== null) {
      const { entry, transfer } = this.#sending;
      if (await this.#continue(entry, transfer)) this.#sending = null;
      return true;
    }
    if (this.#bulk.size === 0) await this.#lookForBulk();
    const next = this.#bulk.entries().next();
    if (next.done === true) return false;
    const [path, entry] = next.value;
    this.#bulk.delete(path);
    if (entry === null) await this.remove([path]);
    else this.#sending = await this.#begin(entry);
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#uploads.close();
    this.#transfers.close();
  }

  /** Compares all urgent files with those of the standby. */
  async #compareAll(): Promise<void> {
    const changed: FileEntry[] = [];
    const here = new Set<string>();
    for await (const entry of listFiles(this.#paths, "urgent")) {
      here.add(entry.path);
      if (this.#differs(entry)) changed.push(entry);
    }
    for (const path of this.#theirs.keys()) if (!here.has(path) && laneOf(path) === "urgent") this.#missing.add(path);
    this.#compared = changed;
  }

  /** Returns what has changed since the last call: what the store of the audio told, and new names in directories. */
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
      if (entry !== null && this.#differs(entry)) changed.push(entry);
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

  async #lookForBulk(): Promise<void> {
    const now = this.#now();
    if (now < this.#nextBulkLook) return;
    this.#nextBulkLook = now + BULK_LOOK_MILLISECONDS;
    const here = new Set<string>();
    for await (const entry of listFiles(this.#paths, "bulk")) {
      here.add(entry.path);
      if (this.#differs(entry) && entry.changedAt < now - SETTLED_MILLISECONDS) this.#bulk.set(entry.path, entry);
    }
    for (const path of this.#theirs.keys()) {
      if (!here.has(path) && laneOf(path) === "bulk") this.#bulk.set(path, null);
    }
  }

  #differs(entry: FileEntry): boolean {
    const theirs = this.#theirs.get(entry.path);
    return theirs === undefined || !isSameEntry(theirs, entry);
  }

  async #sendWhole(entry: FileEntry): Promise<void> {
    const sending = await this.#begin(entry);
    while (sending !== null && !(await this.#continue(sending.entry, sending.transfer)));
  }

  /** Begins to send a file, or continues with what was sent while it was an upload. @returns null if it is gone */
  async #begin({ path }: FileEntry) {
    const opened = await this.#transfers.open(join(this.#paths.root, path));
    if (opened === null) return null;
    const stats = await opened.file.stat({ bigint: true });
    const entry = toEntry(path, { size: Number(stats.size), mtimeMs: Number(stats.mtimeNs) / 1e6 });
    const theirs = this.#theirs.get(path);
    this.#note(path, entry);
    const begun = this.#uploads.take(identityOf(stats));
    if (begun !== null && begun.at <= entry.bytes) {
      this.#transfers.forget(opened);
      return { entry, transfer: begun };
    }
    if (begun !== null) await this.#transfers.drop(begun);
    // The sound of a session only grows.
    const from = path.startsWith("live/") && theirs !== undefined && theirs.bytes < entry.bytes ? theirs.bytes : 0;
    await this.#transfers.begin(opened, from > 0 ? path : null, from);
    return { entry, transfer: opened };
  }

  /** Sends the next piece of a file. @returns whether it was the last one */
  async #continue(entry: FileEntry, transfer: Transfer): Promise<boolean> {
    const isThere = await this.#transfers.sendPiece(transfer, entry.bytes);
    if (isThere && transfer.at < entry.bytes) return false;
    if (isThere) await this.#transfers.complete(transfer, entry);
    else {
      // It is compared again, and sent again if it was changed meanwhile.
      this.#note(entry.path, null);
      await this.#transfers.drop(transfer);
    }
    return true;
  }
}

function emptyIfMissing(error: unknown): string[] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}
