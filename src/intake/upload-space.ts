import type { DiskSpace } from "../disk/index.ts";
import type { IntakeRefusal } from "./intake-error.ts";

/**
 * Reason why an upload gets no disk space: the disk is full, or the account's unfinished uploads have used up their
 * share.
 */
type ReservationRefusal = Extract<IntakeRefusal["kind"], "disk_full" | "account_share_full">;

/** Share of the free disk space that the unfinished uploads of one account may take together. */
const ACCOUNT_SHARE = 1 / 5;
/** Number of bytes of an upload between two checks. Each check calls statfs, which takes microseconds. */
const CHECK_INTERVAL_BYTES = 256 * 1024;

/**
 * Disk space of uploads that have not arrived completely. Space is reserved as bytes arrive, so an announced
 * Content-Length takes nothing from other uploads. The share refers to the space that would be free without the
 * account's own uploads, so uploads of others reduce it. If n accounts take all they can, (4/5)^n of the free space is
 * still left.
 */
export class UploadSpace {
  readonly #disk: DiskSpace;
  readonly #reservedByAccount = new Map<string, number>();

  constructor(disk: DiskSpace) {
    this.#disk = disk;
  }

  /** Size of the largest upload that one account could ever send, with nothing else on the disk. */
  get capacityBytes(): number {
    return Math.floor(this.#disk.capacityBytes("intake") * ACCOUNT_SHARE);
  }

  /**
   * Returns why an account's upload of the given size surely does not fit now; null when it may fit. Reserves nothing.
   */
  refusal(accountId: string, bytes: number): ReservationRefusal | null {
    if (this.#disk.shortage(bytes, "intake") !== null) return "disk_full";
    const reserved = this.#reservedBy(accountId);
    // Bytes that have arrived are on the disk, which no longer counts them as free.
    const share = (this.#disk.freeBytes("intake") + reserved) * ACCOUNT_SHARE;
    return reserved + bytes > share ? "account_share_full" : null;
  }

  /** Creates the reservation of an upload. It is empty at first and released when it is disposed of. */
  reserve(accountId: string): UploadReservation {
    let reserved = 0;
    let sinceCheck = CHECK_INTERVAL_BYTES;
    const add = (bytes: number) => {
      reserved += bytes;
      const sum = this.#reservedBy(accountId) + bytes;
      if (sum === 0) this.#reservedByAccount.delete(accountId);
      else this.#reservedByAccount.set(accountId, sum);
    };
    return {
      extend: (bytes) => {
        sinceCheck += bytes;
        if (sinceCheck >= CHECK_INTERVAL_BYTES) {
          const refusal = this.refusal(accountId, bytes);
          if (refusal !== null) return refusal;
          sinceCheck = 0;
        }
        add(bytes);
        return null;
      },
      [Symbol.dispose]: () => add(-reserved),
    };
  }

  #reservedBy(accountId: string): number {
    return this.#reservedByAccount.get(accountId) ?? 0;
  }
}

/** Disk space of one upload. */
export interface UploadReservation extends Disposable {
  /**
   * Reserves space for received bytes before they are written. Returns the reason for a refusal, or null when they may
   * be written.
   */
  extend(bytes: number): ReservationRefusal | null;
}
