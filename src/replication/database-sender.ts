import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, read as readWithCallback } from "node:fs";
import { promisify } from "node:util";
import { readAt } from "../files/index.ts";
import type { Channel } from "./channel.ts";
import {
  checkFrames,
  frameBytes,
  frameSum,
  isSamePosition,
  isSameSum,
  LOG_HEADER_BYTES,
  type LogHeader,
  type LogPosition,
  type LogState,
  logOffset,
  parseLogHeader,
} from "./log-format.ts";
import { type LogHold, openedForever } from "./log-hold.ts";
import { BLOCK_BYTES, DIGEST_BYTES, kinds, PIECE_BYTES, type ServerMessage } from "./messages.ts";

const read = promisify(readWithCallback);

/** The log was started again before the standby had everything in it, so the standby needs a copy of the database. */
export class LogLostError extends Error {
  override readonly name = "LogLostError";
}

/** Sends the changes of a database to a standby. The log must be held meanwhile. */
export class DatabaseSender {
  readonly #databasePath: string;
  readonly #hold: LogHold;
  readonly #channel: Channel<ServerMessage>;
  /** Position up to which everything was sent; null before the first frames. */
  #position: LogPosition | null = null;
  #header: LogHeader | null = null;

  constructor(databasePath: string, hold: LogHold, channel: Channel<ServerMessage>) {
    this.#databasePath = databasePath;
    this.#hold = hold;
    this.#channel = channel;
  }

  get position(): LogPosition | null {
    return this.#position;
  }

  /** Returns how many bytes of the log have not been sent. */
  bytesAfter(position: LogPosition | null, state: LogState): number {
    const frames = position?.salt === state.salt ? state.frames - position.frames : state.frames;
    return Math.max(0, frames) * frameBytes(state.pageBytes);
  }

  /**
   * Continues after the end of a standby's copy of the log.
   * @returns false if the log does not have what follows it
   */
  continueAfter(position: LogPosition): boolean {
    const state = this.#hold.state();
    if (position.salt !== state.salt) {
      if (!this.#hold.isSealedAt(position)) return false;
      this.#position = position;
      return true;
    }
    if (position.frames > state.frames) return false;
    return this.#withLog((log) => {
      const header = parseLogHeader(readAt(log, 0, LOG_HEADER_BYTES));
      if (header === null || header.salt !== position.salt || header.pageBytes !== state.pageBytes) return false;
      const size = frameBytes(header.pageBytes);
      const sum =
        position.frames === 0
          ? header.sum
          : sumOf(readAt(log, logOffset(header.pageBytes, position.frames - 1), size), size);
      if (sum === null || !isSameSum(sum, position.sum)) return false;
      this.#position = position;
      this.#header = header;
      return true;
    });
  }

  /** Sends the frames of all transactions up to a state of the log. @throws {LogLostError} */
  async sendLog(state: LogState): Promise<void> {
    if (this.#position?.salt !== state.salt) {
      // The log was emptied, and nothing is written yet.
      if (state.frames === 0) return;
      if (this.#position !== null && !this.#hold.isSealedAt(this.#position)) throw new LogLostError("started again");
      const bytes = this.#withLog((log) => readAt(log, 0, LOG_HEADER_BYTES));
      const header = parseLogHeader(bytes);
      if (header === null || header.salt !== state.salt) throw new LogLostError("another header");
      this.#header = header;
      this.#position = { salt: header.salt, frames: 0, sum: header.sum };
      await this.#channel.sendBytes(kinds.logHeader, bytes);
    }
    const header = this.#header;
    if (header === null) throw new LogLostError("no header");
    const most = Math.max(1, Math.floor(PIECE_BYTES / frameBytes(header.pageBytes)));
    while (this.#position.frames < state.frames) {
      const { salt, frames, sum }: LogPosition = this.#position;
      const wanted = Math.min(most, state.frames - frames);
      const bytes = this.#withLog((log) =>
        readAt(log, logOffset(header.pageBytes, frames), wanted * frameBytes(header.pageBytes)),
      );
      const checked = checkFrames(header, bytes, sum);
      if (checked.frames !== wanted) throw new LogLostError("other frames");
      this.#position = { salt, frames: frames + wanted, sum: checked.sum };
      await this.#channel.sendBytes(kinds.logFrames, bytes);
    }
    if (!isSamePosition(this.#position, state)) throw new LogLostError("another end");
  }

  /**
   * Sends a copy of the database file: the blocks that differ from those of the standby. While the log is held, whatever
   * a checkpoint changes in the file meanwhile is also in the log, which must be sent next, from its start.
   * @param digests receives the size of the file, and returns the digests of the standby's blocks
   */
  async sendSnapshot(digests: (bytes: number) => Promise<Buffer>): Promise<void> {
    const file = openedForever(this.#databasePath);
    const { size } = fstatSync(file);
    await this.#channel.send({ type: "snapshot", bytes: size });
    const theirs = await digests(size);
    const block = Buffer.alloc(BLOCK_BYTES);
    const number = Buffer.alloc(4);
    for (let at = 0, index = 0; at < size; at += BLOCK_BYTES, index++) {
      const { bytesRead } = await read(file, block, 0, Math.min(BLOCK_BYTES, size - at), at);
      const content = block.subarray(0, bytesRead);
      const theirDigest = theirs.subarray(index * DIGEST_BYTES, (index + 1) * DIGEST_BYTES);
      if (digestOf(content).equals(theirDigest)) continue;
      number.writeUInt32BE(index);
      await this.#channel.sendBytes(kinds.block, number, content);
    }
    this.#position = null;
    this.#header = null;
  }

  #withLog<T>(use: (log: number) => T): T {
    // SQLite has no locks on this file, so it may be closed.
    const log = openSync(`${this.#databasePath}-wal`, "r");
    try {
      return use(log);
    } finally {
      closeSync(log);
    }
  }
}

/** Returns the number of digests of a file. */
export const blockCount = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES);

export function digestOf(block: Uint8Array): Buffer {
  return createHash("sha256").update(block).digest().subarray(0, DIGEST_BYTES);
}

function sumOf(frame: Buffer, size: number) {
  return frame.length === size ? frameSum(frame) : null;
}
