import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DataPaths } from "../storage/index.ts";
import { codeOf } from "../text/index.ts";
import { PIECE_BYTES } from "./messages.ts";
import { identityOf, type Transfer, type Transfers } from "./transfers.ts";

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
/** Uploads, downloads of links, copies from watched folders, and the sound of live sessions that have ended. */
const uploadName = new RegExp(`^${UUID}\\.(?:part|wav)$`);
/** Size from which a file is sent before it is complete. Smaller ones delay nothing. */
const MIN_BYTES = 1024 * 1024;
/** Maximum number of uploads that are sent at the same time; the standby accepts 256 files. */
const MAX_UPLOADS = 128;
const LOOK_MILLISECONDS = 250;

/** An upload that is being sent. */
interface Upload {
  readonly transfer: Transfer;
  /** Size at the last look. */
  bytes: number;
  /** Callers that wait until everything was sent: their files are complete. */
  readonly waiters: (() => void)[];
}

/**
 * Sends large uploads while they arrive, between the transactions, so that little is left when they become recordings.
 * An upload only grows, apart from a header at its start, and keeps its inode when it becomes the audio of a recording.
 */
export class UnfinishedUploads {
  readonly #directory: string;
  readonly #transfers: Transfers;
  readonly #onWork: () => void;
  readonly #now: () => number;
  readonly #uploads = new Map<string, Upload>();
  #nextLook = 0;
  /** Whether transactions are sent. Before, nobody waits: at the first time, all files may take hours. */
  #isFollowing = false;

  /** @param onWork called when somebody waits for an upload */
  constructor({ incoming }: Pick<DataPaths, "incoming">, transfers: Transfers, now: () => number, onWork: () => void) {
    this.#directory = incoming;
    this.#transfers = transfers;
    this.#now = now;
    this.#onWork = onWork;
  }

  /** Sends a piece of an upload, between two transactions. @returns whether there was any */
  async sendPiece(): Promise<boolean> {
    this.#isFollowing = true;
    if (this.#now() >= this.#nextLook) {
      this.#nextLook = this.#now() + LOOK_MILLISECONDS;
      await this.#look();
    }
    if (!this.#transfers.window.isOpen) return false;
    const waiting = [...this.#uploads].filter(([, { transfer, bytes }]) => transfer.at < bytes);
    const next =
      waiting.find(([, { waiters }]) => waiters.length > 0) ??
      waiting.find(([, { transfer, bytes }]) => bytes - transfer.at >= PIECE_BYTES);
    if (next === undefined) return false;
    const [identity, upload] = next;
    // The others get their turn.
    this.#uploads.delete(identity);
    this.#uploads.set(identity, upload);
    if (!(await this.#transfers.sendPiece(upload.transfer, upload.bytes))) await this.#drop(identity, upload);
    else if (upload.transfer.at === upload.bytes) release(upload);
    return true;
  }

  /** Resolves when a complete upload was sent, or at once if it is small or no standby follows. */
  async sent(path: string): Promise<void> {
    if (!this.#isFollowing) return;
    const stats = await lstat(path, { bigint: true }).catch(() => null);
    if (stats === null || !isLarge(stats)) return;
    const upload = await this.#begin(path);
    // The session may have ended meanwhile.
    if (upload === null || !this.#isFollowing) return;
    upload.bytes = Number(stats.size);
    if (upload.transfer.at >= upload.bytes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    upload.waiters.push(resolve);
    this.#onWork();
    await promise;
  }

  /** Returns the transfer of a file that began while it was an upload, and forgets it here; null if none began. */
  take(identity: string): Transfer | null {
    const upload = this.#uploads.get(identity);
    if (upload === undefined) return null;
    this.#uploads.delete(identity);
    release(upload);
    return upload.transfer;
  }

  /** Releases everybody who waits. */
  close(): void {
    this.#isFollowing = false;
    for (const upload of this.#uploads.values()) release(upload);
    this.#uploads.clear();
  }

  async #look(): Promise<void> {
    for (const [identity, upload] of [...this.#uploads]) {
      const stats = await upload.transfer.file.stat({ bigint: true });
      // Cancelled or refused: its name is gone here, and it has no other.
      const isGone = stats.nlink === 0n || Number(stats.size) < upload.transfer.at;
      if (isGone) await this.#drop(identity, upload);
      else upload.bytes = Number(stats.size);
    }
    const names = await readdir(this.#directory).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    for (const name of names.filter((each) => uploadName.test(each))) {
      const path = join(this.#directory, name);
      const stats = await lstat(path, { bigint: true }).catch(() => null);
      if (stats !== null && isLarge(stats) && !this.#uploads.has(identityOf(stats))) await this.#begin(path);
    }
  }

  /** Begins to send a file, unless it is being sent. @returns null if it is gone, or if there are too many */
  async #begin(path: string): Promise<Upload | null> {
    const transfer = await this.#transfers.open(path);
    if (transfer === null) return null;
    const stats = await transfer.file.stat({ bigint: true });
    const identity = identityOf(stats);
    const known = this.#uploads.get(identity);
    if (known !== undefined || this.#uploads.size >= MAX_UPLOADS || !stats.isFile()) {
      this.#transfers.forget(transfer);
      return known ?? null;
    }
    const upload = { transfer, bytes: Number(stats.size), waiters: [] };
    this.#uploads.set(identity, upload);
    await this.#transfers.begin(transfer);
    return upload;
  }

  async #drop(identity: string, upload: Upload): Promise<void> {
    this.#uploads.delete(identity);
    release(upload);
    await this.#transfers.drop(upload.transfer);
  }
}

function isLarge(stats: BigIntStats): boolean {
  return stats.isFile() && stats.size >= MIN_BYTES;
}

function release({ waiters }: Upload): void {
  for (const resolve of waiters.splice(0)) resolve();
}
