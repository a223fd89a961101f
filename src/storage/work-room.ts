import type { DiskRoom, RoomClaim } from "./disk-room.ts";
import { MachineError } from "./machine-trouble.ts";

interface Held {
  readonly claim: RoomClaim;
  /** What lies on the disk of it. */
  written: number;
  /** What its files may come to on the disk; all of it is free again when its recording ends. */
  bytes: number;
}

/**
 * Room for recordings' work files. All that a recording's will take is promised before the first of them is written, and
 * until it ends: were it asked for piece by piece, several could each have taken a part and wait for the others' for ever.
 * So whoever has room comes to an end, if nobody else fills the disk, and gives it to the next.
 */
export class WorkRoom {
  readonly #disk: DiskRoom;
  readonly #held = new Map<string, Held>();
  /** Who was refused, and how much it asked for, in the order in which they first asked. */
  readonly #line = new Map<string, number>();

  constructor(disk: DiskRoom) {
    this.#disk = disk;
  }

  /**
   * Promises a recording room in place of what it held.
   * @throws {MachineError} when there is not so much, or when it is kept for one that asked before: it has only to wait for
   * others to end, and would wait for ever if all that come later and need less went before it
   */
  promise(id: string, bytes: number): void {
    this.giveBack(id);
    try {
      const ahead = this.#askedBefore(id);
      if (ahead > 0 && this.#disk.lack(ahead + bytes, "work") !== null) {
        throw new MachineError("NO_ROOM", "the room on the disk is kept for a recording that asked before");
      }
      this.#held.set(id, { claim: this.#disk.claim(bytes, "work"), written: 0, bytes });
      this.#line.delete(id);
    } catch (error) {
      this.#line.set(id, bytes);
      throw error;
    }
  }

  /**
   * Promises a recording room, in place of what it held, whether there is so much or not: its sound is on the disk already,
   * the rest is small, and that it ends frees all of it.
   * @param onDisk bytes of its files that are there
   */
  grant(id: string, bytes: number, onDisk: number): void {
    this.giveBack(id);
    this.#held.set(id, { claim: this.#disk.insist(bytes, "work"), written: onDisk, bytes: onDisk + bytes });
    this.#line.delete(id);
  }

  /**
   * Says that a recording has written so many bytes.
   * @throws {MachineError} past what it was promised, when there is no room for more
   */
  written(id: string, bytes: number): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    held.written += bytes;
    held.bytes = Math.max(held.bytes, held.written);
    held.claim.written(bytes);
  }

  /** The recording's work files are gone; it will ask again, and keeps its place in the line. */
  giveBack(id: string): void {
    this.#held.get(id)?.claim[Symbol.dispose]();
    this.#held.delete(id);
  }

  /** The recording has ended. */
  ended(id: string): void {
    this.giveBack(id);
    this.#line.delete(id);
  }

  /** Whether next to nothing can be written now. */
  isShort(): boolean {
    return this.#disk.lack(0, "work") !== null;
  }

  /** Whether the disk has so much room if all that can go from it goes. */
  couldHold(bytes: number): boolean {
    return bytes <= this.#disk.mostBytes("work");
  }

  /** What those asked for that asked before a recording, and for whom there would be room if only those who have some ended. */
  #askedBefore(id: string): number {
    const toBeFreed = [...this.#held.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    let asked = 0;
    for (const [other, bytes] of this.#line) {
      if (other === id) break;
      if (this.#disk.lack(bytes, "work", toBeFreed) === null) asked += bytes;
    }
    return asked;
  }
}
