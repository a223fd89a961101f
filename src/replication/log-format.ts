/**
 * SQLite's write-ahead log, as far as a byte copy needs it: https://www.sqlite.org/walformat.html. These formats are
 * stable; SQLite itself reads them after a crash.
 */

export const LOG_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
/** Part of the index file that is read: two copies of its header, and the start of the checkpoint's state. */
export const INDEX_BYTES = 100;

const MAGIC = 0x377f0682;
const VERSION = 3_007_000;

/** The two words of a checksum, which covers everything before it in the log. */
export type Checksum = [number, number];

/** Header of a log, or of one generation of it: the log is written from its start again after a checkpoint. */
export interface LogHeader {
  readonly pageBytes: number;
  /** Two random words in hexadecimal, which are in each frame and change with each generation. */
  readonly salt: string;
  readonly isBigEndian: boolean;
  readonly sum: Checksum;
}

/** A position in a log, after a number of whole frames. */
export interface LogPosition {
  readonly salt: string;
  readonly frames: number;
  readonly sum: Checksum;
}

/** State of a log by its index, which SQLite updates after it has written a transaction. */
export interface LogState extends LogPosition {
  readonly pageBytes: number;
  /** Number of frames that a checkpoint has copied to the database. */
  readonly backfilled: number;
}

export function frameBytes(pageBytes: number): number {
  return FRAME_HEADER_BYTES + pageBytes;
}

/** Returns the place in the log's file after a number of frames. */
export function logOffset(pageBytes: number, frames: number): number {
  return LOG_HEADER_BYTES + frames * frameBytes(pageBytes);
}

export function isSamePosition(one: LogPosition, other: LogPosition): boolean {
  return one.salt === other.salt && one.frames === other.frames && isSameSum(one.sum, other.sum);
}

export function isSameSum(one: Checksum, other: Checksum): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** Returns the header of a log; null for bytes that are none, such as an empty file. */
export function parseLogHeader(bytes: Buffer): LogHeader | null {
  if (bytes.length < LOG_HEADER_BYTES) return null;
  const magic = bytes.readUInt32BE(0);
  const pageBytes = bytes.readUInt32BE(8);
  if ((magic & ~1) !== MAGIC || bytes.readUInt32BE(4) !== VERSION || !isPageSize(pageBytes)) return null;
  const isBigEndian = (magic & 1) === 1;
  const sum = checksum(bytes.subarray(0, 24), isBigEndian, [0, 0]);
  if (!isSameSum(sum, storedSum(bytes, 24))) return null;
  return { pageBytes, isBigEndian, sum, salt: bytes.toString("hex", 16, 24) };
}

export function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
}

/** Whole frames at a position of a log. */
export interface CheckedFrames {
  /** Number of frames at the start of the bytes that are valid, and the checksum after them. */
  readonly frames: number;
  readonly sum: Checksum;
  /** Number of those up to the last end of a transaction, and the checksum there. */
  readonly committedFrames: number;
  readonly committedSum: Checksum;
}

/**
 * Checks frames that follow a position, as SQLite does after a crash.
 * @param sum checksum before the first frame
 */
export function checkFrames(header: LogHeader, bytes: Buffer, sum: Checksum): CheckedFrames {
  const size = frameBytes(header.pageBytes);
  let [frames, committedFrames, current, committedSum] = [0, 0, sum, sum];
  for (let at = 0; at + size <= bytes.length; at += size) {
    const frame = bytes.subarray(at, at + size);
    if (frame.readUInt32BE(0) === 0 || frame.toString("hex", 8, 16) !== header.salt) break;
    const afterHead = checksum(frame.subarray(0, 8), header.isBigEndian, current);
    const after = checksum(frame.subarray(FRAME_HEADER_BYTES), header.isBigEndian, afterHead);
    if (!isSameSum(after, storedSum(frame, 16))) break;
    current = after;
    frames += 1;
    if (sizeAfter(frame) === 0) continue;
    committedFrames = frames;
    committedSum = current;
  }
  return { frames, sum: current, committedFrames, committedSum };
}

/** Number of the page that a frame contains, from 1. */
export function pageOf(frame: Buffer): number {
  return frame.readUInt32BE(0);
}

/** Number of pages of the database after the transaction that a frame ends; 0 if it ends none. */
export function sizeAfter(frame: Buffer): number {
  return frame.readUInt32BE(4);
}

/** Checksum in a frame, of everything up to its end. */
export function frameSum(frame: Buffer): Checksum {
  return storedSum(frame, 16);
}

function storedSum(bytes: Buffer, at: number): Checksum {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function checksum(bytes: Buffer, isBigEndian: boolean, [first, second]: Checksum): Checksum {
  const words = isBigEndian ? swapped(bytes) : wordsOf(bytes);
  let [one, two] = [first, second];
  for (let at = 0; at < words.length; at += 2) {
    one = (one + (words[at] ?? 0) + two) >>> 0;
    two = (two + (words[at + 1] ?? 0) + one) >>> 0;
  }
  return [one, two];
}

function wordsOf(bytes: Buffer): Uint32Array {
  const isAligned = bytes.byteOffset % 4 === 0;
  return isAligned
    ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    : new Uint32Array(Uint8Array.from(bytes).buffer);
}

function swapped(bytes: Buffer): Uint32Array {
  return new Uint32Array(Uint8Array.from(Buffer.from(bytes).swap32()).buffer);
}

/**
 * Reads the state of a log from the first bytes of its index file.
 * @returns null while SQLite changes it, or if it is of another version
 */
export function parseLogIndex(bytes: Buffer): LogState | null {
  if (bytes.length < INDEX_BYTES || !bytes.subarray(0, 48).equals(bytes.subarray(48, 96))) return null;
  if (bytes.readUInt32LE(0) !== VERSION || bytes[12] !== 1) return null;
  const size = bytes.readUInt16LE(14);
  return {
    // The largest page size does not fit into the field.
    pageBytes: size === 1 ? 65_536 : size,
    salt: bytes.toString("hex", 32, 40),
    frames: bytes.readUInt32LE(16),
    sum: [bytes.readUInt32LE(24), bytes.readUInt32LE(28)],
    backfilled: bytes.readUInt32LE(96),
  };
}
