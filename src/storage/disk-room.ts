import { type StatsFs, statfsSync } from "node:fs";
import { size } from "../text/index.ts";
import { MachineError } from "./machine-trouble.ts";

/** Who wants room: a recording that comes in leaves the reserve alone; the work on those that are in lives on it. */
export type RoomUse = "intake" | "work";

/** Room that is promised to one file or step until it is disposed of. */
export interface RoomClaim extends Disposable {
  /**
   * Says that so many bytes were written: they are promised no more, the disk counts them itself.
   * @throws {MachineError} past what was claimed, when there is no room for more
   */
  written(bytes: number): void;
}

/** What work leaves of the reserve: the database writes what is done there. */
const workShare = 1 / 16;
/** Files that must fit beside, where a file system holds a fixed number: those of a long recording's steps. */
const leastFiles = 200;
/** How much may be written between two looks at the disk. */
const lookEveryBytes = 4 * 1024 * 1024;

/** The room on the disk of a data directory: what is free, less what is promised to those who are about to write. */
export class DiskRoom {
  readonly #path: string;
  readonly #reserveBytes: () => number;
  readonly #look: (path: string) => StatsFs;
  #promised = 0;

  /** @param reserveBytes what recordings that come in must leave free; asked each time */
  constructor(path: string, reserveBytes: () => number, look: (path: string) => StatsFs = (at) => statfsSync(at)) {
    this.#path = path;
    this.#reserveBytes = reserveBytes;
    this.#look = look;
  }

  /**
   * Why so many bytes more can't be written, in plain words; null when they can, or when the disk does not say.
   * @param toBeFreed bytes that are taken to be gone from it
   */
  lack(bytes: number, use: RoomUse, toBeFreed = 0): string | null {
    const disk = this.#disk();
    if (disk === null) return null;
    if (disk.files > 0 && disk.ffree < leastFiles) return `only ${disk.ffree} more files fit on the disk`;
    const reserve = this.#reserve(use);
    const free = disk.bavail * disk.bsize + toBeFreed - this.#promised;
    if (free - bytes >= reserve) return null;
    const kept = reserve === 0 ? "" : `, of which ${size(reserve)} are kept free`;
    const wanted = bytes === 0 ? "" : `; ${size(bytes)} more are needed`;
    return `the disk is full: ${size(Math.max(0, free))} are free${kept}${wanted}`;
  }

  /** Returns how much more a use may write, negative where its reserve is touched; infinite when the disk does not say. */
  freeBytes(use: RoomUse): number {
    const disk = this.#disk();
    return disk === null ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize - this.#promised - this.#reserve(use);
  }

  /**
   * Promises room.
   * @throws {MachineError} when there is not so much
   */
  claim(bytes: number, use: RoomUse): RoomClaim {
    this.#require(bytes, use);
    return this.insist(bytes, use);
  }

  /** Promises room whether there is so much or not. */
  insist(bytes: number, use: RoomUse): RoomClaim {
    let left = bytes;
    let sinceLook = 0;
    this.#promised += bytes;
    const giveBack = (some: number) => {
      left -= some;
      this.#promised -= some;
    };
    return {
      written: (count) => {
        const beyond = count - Math.min(count, left);
        giveBack(count - beyond);
        sinceLook += beyond;
        if (beyond === 0 || sinceLook < lookEveryBytes) return;
        sinceLook = 0;
        this.#require(0, use);
      },
      [Symbol.dispose]: () => giveBack(left),
    };
  }

  /** How much would fit on the disk if it held nothing else; infinite when it does not say. */
  mostBytes(use: RoomUse): number {
    const disk = this.#disk();
    if (disk === null) return Number.POSITIVE_INFINITY;
    const total = disk.blocks * disk.bsize;
    // A reserve that leaves next to nothing is a mistake in the settings, which can be mended.
    return Math.floor(total - Math.min(this.#reserve(use), total * workShare));
  }

  #disk(): StatsFs | null {
    try {
      return this.#look(this.#path);
    } catch {
      return null;
    }
  }

  #reserve(use: RoomUse): number {
    return Math.floor(this.#reserveBytes() * (use === "intake" ? 1 : workShare));
  }

  #require(bytes: number, use: RoomUse): void {
    const lack = this.lack(bytes, use);
    if (lack !== null) throw new MachineError("NO_ROOM", lack);
  }
}
