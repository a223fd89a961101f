import { type StatsFs, statfsSync } from "node:fs";
import { size } from "../text/index.ts";
import { MachineError } from "./machine-trouble.ts";

/**
 * Purpose of a reservation. `intake`, for new recordings, must leave the whole reserve free; `work`, for accepted
 * recordings, may use most of the reserve.
 */
type SpaceUse = "intake" | "work";

/** A reservation of disk space for one file or step, until it is disposed of. */
export interface Reservation extends Disposable {
  /**
   * Reports that bytes were written: they leave the reservation, because the disk itself counts them now.
   * @throws {MachineError} when more than the reservation was written and the disk is full
   */
  written(bytes: number): void;
}

/** Share of the reserve that work leaves free, so that the database can store completed work. */
const WORK_SHARE = 1 / 16;
/** Minimum number of free inodes on a file system with a fixed number of them: enough for a long recording's steps. */
const MIN_FREE_FILES = 200;
/** Bytes that may be written beyond a reservation between two checks of the disk. */
const CHECK_EVERY_BYTES = 4 * 1024 * 1024;

/** The available space on the disk of a data directory: free space minus all reservations. */
export class DiskSpace {
  readonly #path: string;
  readonly #reserveBytes: () => number;
  readonly #statfs: (path: string) => StatsFs;
  #reserved = 0;

  /** @param reserveBytes returns the bytes that new recordings must leave free; called for each check */
  constructor(path: string, reserveBytes: () => number, statfs: (path: string) => StatsFs = (at) => statfsSync(at)) {
    this.#path = path;
    this.#reserveBytes = reserveBytes;
    this.#statfs = statfs;
  }

  /**
   * Returns why a number of bytes cannot be written; null when they can, or when the disk does not report its space.
   * @param toBeFreed bytes that are counted as already removed from the disk
   */
  shortage(bytes: number, use: SpaceUse, toBeFreed = 0): string | null {
    const disk = this.#disk();
    if (disk === null) return null;
    if (disk.files > 0 && disk.ffree < MIN_FREE_FILES) return `only ${disk.ffree} more files fit on the disk`;
    const reserve = this.#reserve(use);
    const free = disk.bavail * disk.bsize + toBeFreed - this.#reserved;
    if (free - bytes >= reserve) return null;
    const unused = reserve === 0 ? "" : `, of which ${size(reserve)} stay reserved`;
    const needed = bytes === 0 ? "" : `; ${size(bytes)} more are needed`;
    return `the disk is full: ${size(Math.max(0, free))} are free${unused}${needed}`;
  }

  /**
   * Returns how many bytes a use may still write: negative when its reserve is touched, infinite when the disk does not
   * report its space.
   */
  freeBytes(use: SpaceUse): number {
    const disk = this.#disk();
    return disk === null ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize - this.#reserved - this.#reserve(use);
  }

  /**
   * Reserves disk space.
   * @throws {MachineError} when there is not enough
   */
  reserve(bytes: number, use: SpaceUse): Reservation {
    this.#require(bytes, use);
    return this.reserveAnyway(bytes, use);
  }

  /** Reserves disk space even when there is not enough. */
  reserveAnyway(bytes: number, use: SpaceUse): Reservation {
    let left = bytes;
    let sinceCheck = 0;
    this.#reserved += bytes;
    const release = (some: number) => {
      left -= some;
      this.#reserved -= some;
    };
    return {
      written: (count) => {
        const beyond = count - Math.min(count, left);
        release(count - beyond);
        sinceCheck += beyond;
        if (beyond === 0 || sinceCheck < CHECK_EVERY_BYTES) return;
        sinceCheck = 0;
        this.#require(0, use);
      },
      [Symbol.dispose]: () => release(left),
    };
  }

  /** Returns how many bytes would fit on an otherwise empty disk; infinite when the disk does not report its size. */
  capacityBytes(use: SpaceUse): number {
    const disk = this.#disk();
    if (disk === null) return Number.POSITIVE_INFINITY;
    const total = disk.blocks * disk.bsize;
    // A larger reserve is a mistake in the settings. It can be corrected, so no recording fails for it.
    return Math.floor(total - Math.min(this.#reserve(use), total * WORK_SHARE));
  }

  #disk(): StatsFs | null {
    try {
      return this.#statfs(this.#path);
    } catch {
      return null;
    }
  }

  #reserve(use: SpaceUse): number {
    return Math.floor(this.#reserveBytes() * (use === "intake" ? 1 : WORK_SHARE));
  }

  #require(bytes: number, use: SpaceUse): void {
    const lack = this.shortage(bytes, use);
    if (lack !== null) throw new MachineError("NO_ROOM", lack);
  }
}
