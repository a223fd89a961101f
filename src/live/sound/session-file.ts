import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync } from "node:fs";
import { type DiskSpace, MachineError, type Reservation } from "../../disk/index.ts";
import { writeAll } from "../../files/index.ts";
import { codeOf } from "../../text/index.ts";

const BYTES_PER_SAMPLE = 2;
/** Disk space that is reserved at once, for about half a minute of sound. */
const RESERVED_BYTES = 1024 * 1024;
/** Interval between two syncs. A power cut loses no more than what arrived since the last one; a crash loses nothing. */
const SYNC_MILLISECONDS = 1000;

export interface SessionFileOptions {
  readonly path: string;
  readonly diskSpace: Pick<DiskSpace, "reserve">;
  /** Whether the sound becomes a recording: then as much space again is reserved, for the recording's file. */
  readonly keep: boolean;
}

/**
 * The sound of a session: 16 kHz, mono, signed 16-bit little-endian samples. A write is in the file when it returns, so it
 * survives a crash of the program. It is synced in the background, so that no caller waits for the disk.
 */
export class SessionFile implements Disposable {
  readonly #options: SessionFileOptions;
  readonly #descriptor: number;
  readonly #syncTimer: NodeJS.Timeout;
  #reservation: Reservation;
  #bytes: number;
  #reservedTo = 0;
  #isDirty = false;
  #syncing: Promise<void> | null = null;
  #isOpen = true;

  /**
   * Opens the file of a session, and creates it if it does not exist.
   * @throws {MachineError} when the disk is full
   */
  constructor(options: SessionFileOptions) {
    this.#options = options;
    this.#descriptor = openSync(options.path, "a", 0o600);
    this.#bytes = fstatSync(this.#descriptor).size;
    try {
      // A crash in the middle of a write may have left half a sample.
      if (this.#bytes % BYTES_PER_SAMPLE !== 0) ftruncateSync(this.#descriptor, --this.#bytes);
      this.#reservation = this.#reserve(this.#bytes === 0 ? "intake" : "work");
    } catch (error) {
      closeSync(this.#descriptor);
      throw error;
    }
    this.#syncTimer = setInterval(() => void this.sync(), SYNC_MILLISECONDS);
    this.#syncTimer.unref();
  }

  get sampleCount(): number {
    return this.#bytes / BYTES_PER_SAMPLE;
  }

  /** Appends samples. @throws {MachineError} when the disk is full; nothing is appended then */
  append(samples: Int16Array): void {
    if (!this.#isOpen) throw new Error("the session's file is closed");
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
    if (this.#bytes + bytes.length > this.#reservedTo) {
      this.#reservation[Symbol.dispose]();
      // A session that was accepted may use most of the disk's reserve, as a recording may that is processed.
      this.#reservation = this.#reserve("work", bytes.length);
    }
    try {
      writeAll(this.#descriptor, bytes);
    } catch (error) {
      ftruncateSync(this.#descriptor, this.#bytes);
      throw new MachineError(codeOf(error), "the sound of a live session cannot be written");
    }
    this.#bytes += bytes.length;
    this.#reservation.written(bytes.length);
    this.#isDirty = true;
  }

  /** Makes everything that was appended before the call durable. Never rejects: the next sync repeats a failed one. */
  async sync(): Promise<void> {
    while (this.#syncing !== null) await this.#syncing;
    if (!this.#isDirty || !this.#isOpen) return;
    this.#isDirty = false;
    this.#syncing = new Promise((resolve) => {
      fdatasync(this.#descriptor, (error) => {
        if (error !== null) this.#isDirty = true;
        this.#syncing = null;
        resolve();
      });
    });
    await this.#syncing;
  }

  /** Syncs and closes the file, and releases its reservations. */
  async close(): Promise<void> {
    await this.sync();
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearInterval(this.#syncTimer);
    this.#reservation[Symbol.dispose]();
    const close = () => closeSync(this.#descriptor);
    // A sync in progress still uses the descriptor.
    if (this.#syncing === null) close();
    else void this.#syncing.then(close);
  }

  /** Reserves space for the next samples, and for the recording's file. */
  #reserve(use: Parameters<DiskSpace["reserve"]>[1], bytes = 0): Reservation {
    const ahead = Math.max(RESERVED_BYTES, bytes);
    const copy = this.#options.keep ? this.#bytes + ahead : 0;
    const reservation = this.#options.diskSpace.reserve(ahead + copy, use);
    this.#reservedTo = this.#bytes + ahead;
    return reservation;
  }
}
