import type { DiskSpace, Reservation } from "./disk-space.ts";
import { MachineError } from "./machine-trouble.ts";

interface WorkSpace {
  readonly reservation: Reservation;
  /** Bytes that are on the disk already. */
  written: number;
  /** Expected total size of its files; all of it becomes free when the recording finishes. */
  bytes: number;
}

/**
 * Reservations of disk space for recordings' work files. A recording reserves the space of all its files before it
 * writes the first one, and holds it until it finishes. If recordings reserved space in steps, several could each hold
 * a part and wait for the others forever. So a recording with a reservation can finish, unless something else fills the
 * disk, and its space goes to the next recording.
 */
export class WorkReservations {
  readonly #disk: DiskSpace;
  readonly #held = new Map<string, WorkSpace>();
  /** Refused recordings with the bytes that they requested, in the order of their first request. */
  readonly #waiters = new Map<string, number>();

  constructor(disk: DiskSpace) {
    this.#disk = disk;
  }

  /**
   * Reserves space for a recording, in place of its earlier reservation.
   * @throws {MachineError} when there is not enough space, or when an earlier waiter needs it. An earlier waiter only
   * waits for others to finish, and would wait forever if later, smaller requests went first.
   */
  reserve(id: string, bytes: number): void {
    this.release(id);
    try {
      const ahead = this.#requestedEarlier(id);
      if (ahead > 0 && this.#disk.shortage(ahead + bytes, "work") !== null) {
        throw new MachineError("NO_ROOM", "the free disk space is reserved for a recording that requested it earlier");
      }
      this.#held.set(id, { reservation: this.#disk.reserve(bytes, "work"), written: 0, bytes });
      this.#waiters.delete(id);
    } catch (error) {
      this.#waiters.set(id, bytes);
      throw error;
    }
  }

  /**
   * Reserves space for a recording, in place of its earlier reservation, even when there is not enough. Its decoded
   * audio is on the disk already, the rest is small, and all of it becomes free when the recording finishes.
   * @param onDisk bytes of its files that exist already
   */
  reserveAnyway(id: string, bytes: number, onDisk: number): void {
    this.release(id);
    this.#held.set(id, {
      reservation: this.#disk.reserveAnyway(bytes, "work"),
      written: onDisk,
      bytes: onDisk + bytes,
    });
    this.#waiters.delete(id);
  }

  /**
   * Reports that a recording has written a number of bytes.
   * @throws {MachineError} when more than the reservation was written and the disk is full
   */
  written(id: string, bytes: number): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    held.written += bytes;
    held.bytes = Math.max(held.bytes, held.written);
    held.reservation.written(bytes);
  }

  /**
   * Releases the reservation of a recording whose work files are removed. The recording keeps its place in the queue.
   */
  release(id: string): void {
    this.#held.get(id)?.reservation[Symbol.dispose]();
    this.#held.delete(id);
  }

  /** Releases the reservation of a finished recording and removes the recording from the queue. */
  ended(id: string): void {
    this.release(id);
    this.#waiters.delete(id);
  }

  /** Returns whether almost nothing can be written now. */
  isDiskFull(): boolean {
    return this.#disk.shortage(0, "work") !== null;
  }

  /** Returns whether a number of bytes would fit on the disk if everything removable were removed. */
  couldFit(bytes: number): boolean {
    return bytes <= this.#disk.capacityBytes("work");
  }

  /** Returns the total bytes requested by earlier waiters that would each fit once all current reservations end. */
  #requestedEarlier(id: string): number {
    const toBeFreed = [...this.#held.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    let requested = 0;
    for (const [other, bytes] of this.#waiters) {
      if (other === id) break;
      if (this.#disk.shortage(bytes, "work", toBeFreed) === null) requested += bytes;
    }
    return requested;
  }
}
