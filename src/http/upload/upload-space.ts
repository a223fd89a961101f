import type { DiskRoom } from "../../storage/index.ts";
import type { UploadFailure } from "./upload-result.ts";

/** Why an upload gets no disk space: the disk has none, or the account's unfinished uploads have their share of it. */
export type SpaceRefusal = Extract<UploadFailure["kind"], "disk_full" | "account_share_full">;

/** Part of the free disk space that the unfinished uploads of one account may take together. */
const accountShare = 1 / 5;
/** How much may arrive in an upload between two checks. Each check is a call of statfs, which takes microseconds. */
const checkEveryBytes = 256 * 1024;

/**
 * The disk space of uploads that have not arrived completely. An upload takes space as its bytes arrive, so an announced
 * Content-Length takes nothing from anybody. The share is one of the space that would be free without the account's own
 * uploads, so what others take makes it smaller: n accounts that take all they can still leave (4/5)^n of the free space.
 */
export class UploadSpace {
  readonly #disk: DiskRoom;
  readonly #takenByAccount = new Map<string, number>();

  constructor(disk: DiskRoom) {
    this.#disk = disk;
  }

  /** Largest upload that one account could ever send, with nothing else on the disk. */
  get mostBytes(): number {
    return Math.floor(this.#disk.mostBytes("intake") * accountShare);
  }

  /** Returns why so many more bytes of an account surely do not fit now; null when they may. Reserves nothing. */
  refusal(accountId: string, bytes: number): SpaceRefusal | null {
    if (this.#disk.lack(bytes, "intake") !== null) return "disk_full";
    const taken = this.#taken(accountId);
    // Bytes that have arrived are on the disk, which no longer counts them as free.
    const share = (this.#disk.freeBytes("intake") + taken) * accountShare;
    return taken + bytes > share ? "account_share_full" : null;
  }

  /** Opens the reservation of an upload, which is empty at first and released when it is disposed of. */
  open(accountId: string): UploadReservation {
    let taken = 0;
    let sinceCheck = checkEveryBytes;
    const add = (bytes: number) => {
      taken += bytes;
      const sum = this.#taken(accountId) + bytes;
      if (sum === 0) this.#takenByAccount.delete(accountId);
      else this.#takenByAccount.set(accountId, sum);
    };
    return {
      take: (bytes) => {
        sinceCheck += bytes;
        if (sinceCheck >= checkEveryBytes) {
          const refusal = this.refusal(accountId, bytes);
          if (refusal !== null) return refusal;
          sinceCheck = 0;
        }
        add(bytes);
        return null;
      },
      [Symbol.dispose]: () => add(-taken),
    };
  }

  #taken(accountId: string): number {
    return this.#takenByAccount.get(accountId) ?? 0;
  }
}

/** Disk space of one upload. */
export interface UploadReservation extends Disposable {
  /** Takes space for bytes that have arrived, before they are written. Returns why there is none, null when they may be written. */
  take(bytes: number): SpaceRefusal | null;
}
