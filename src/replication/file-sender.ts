import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DataPaths } from "../storage/index.ts";
import type { Channel } from "./channel.ts";
import { entryOf, toEntry } from "./data-files.ts";
import { FileChanges } from "./file-changes.ts";
import type { FileEntry, ServerMessage } from "./messages.ts";
import { identityOf, type Transfer, Transfers } from "./transfers.ts";
import { UnfinishedUploads } from "./unfinished-uploads.ts";

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
  readonly #changes: FileChanges;
  readonly #transfers: Transfers;
  readonly #uploads: UnfinishedUploads;
  /** The other file that is being sent. */
  #sending: { readonly entry: FileEntry; readonly transfer: Transfer } | null = null;
  /** Other files that differ; null for those that are missing here. */
  #bulk = new Map<string, FileEntry | null>();
  #isClosed = false;

  constructor(paths: DataPaths, channel: Channel<ServerMessage>, options: FileSenderOptions) {
    const { now, knowsAudio, maxAudioWait, onWork } = options;
    const changes = new FileChanges(paths, now, knowsAudio);
    const transfers = new Transfers(channel);
    const uploads = new UnfinishedUploads(paths, transfers, now, onWork);
    if (knowsAudio) {
      paths.localAudio.watch({
        changed: (id) => {
          if (!this.#isClosed) changes.audioChanged(id);
        },
        async prepared(path) {
          const sent = uploads.sent(path).catch(() => {});
          const limit = maxAudioWait();
          await (limit === null ? sent : Promise.race([sent, sleep(limit, undefined, { ref: false })]));
        },
      });
    }
    this.#paths = paths;
    this.#channel = channel;
    this.#changes = changes;
    this.#transfers = transfers;
    this.#uploads = uploads;
  }

  /** Notes files that the standby has. */
  has(entries: readonly FileEntry[]): void {
    this.#changes.has(entries);
  }

  /**
   * Sends urgent files that are new or were changed, as of the time of the call. A recording's audio is stored before
   * its record is. So whoever reads the database's log first, calls this and then sends the log has sent the audio of all
   * records in it.
   */
  async sendUrgent(): Promise<void> {
    for (const entry of await this.#changes.urgent()) if (this.#changes.differs(entry)) await this.#sendWhole(entry);
  }

  /** Returns the files that are missing here, and forgets them. They may be removed after what is in the log now. */
  takeMissing(): string[] {
    return this.#changes.takeMissing();
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if ((await entryOf(this.#paths.root, path)) !== null) continue;
      this.#changes.note(path, null);
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
    if (this.#bulk.size === 0) this.#bulk = await this.#changes.bulk();
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

  async #sendWhole(entry: FileEntry): Promise<void> {
    const sending = await this.#begin(entry);
    while (sending !== null && !(await this.#continue(sending.entry, sending.transfer)));
  }

  /** Begins to send a file, or continues with what was sent while it was an upload. @returns null if it is gone */
  async #begin({ path }: FileEntry) {
    const opened = await this.#transfers.open(join(this.#paths.root, path));
    if (opened === null) return null;
    const entry = toEntry(path, await opened.file.stat());
    const theirs = this.#changes.theirs(path);
    this.#changes.note(path, entry);
    const begun = this.#uploads.take(identityOf(await opened.file.stat({ bigint: true })));
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
      this.#changes.note(entry.path, null);
      await this.#transfers.drop(transfer);
    }
    return true;
  }
}
