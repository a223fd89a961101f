import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { readAt } from "../files/index.ts";
import {
  checkFrames,
  FRAME_HEADER_BYTES,
  frameBytes,
  LOG_HEADER_BYTES,
  type LogHeader,
  type LogPosition,
  logOffset,
  pageOf,
  parseLogHeader,
  sizeAfter,
} from "./log-format.ts";
import { PIECE_BYTES } from "./messages.ts";

/** A standby's copy of a log. */
export interface OpenLog {
  readonly file: number;
  readonly header: LogHeader;
  position: LogPosition;
  /** Number of pages of the database after the last transaction; 0 if there is none. */
  pages: number;
}

/** Opens a copy of a log and finds the end of its last whole transaction; null if it has no valid header. */
export function openLog(path: string): OpenLog | null {
  const file = openSync(path, "r+");
  const header = parseLogHeader(readAt(file, 0, LOG_HEADER_BYTES));
  if (header === null) {
    closeSync(file);
    return null;
  }
  const log: OpenLog = { file, header, pages: 0, position: { salt: header.salt, frames: 0, sum: header.sum } };
  const size = frameBytes(header.pageBytes);
  let [frames, sum] = [0, header.sum];
  for (;;) {
    const bytes = readAt(file, logOffset(header.pageBytes, frames), Math.ceil(PIECE_BYTES / size) * size);
    const checked = checkFrames(header, bytes, sum);
    if (checked.committedFrames > 0) {
      const committed = frames + checked.committedFrames;
      log.position = { salt: header.salt, frames: committed, sum: checked.committedSum };
      log.pages = sizeAfter(bytes.subarray((checked.committedFrames - 1) * size));
    }
    frames += checked.frames;
    sum = checked.sum;
    if (checked.frames * size < bytes.length || bytes.length === 0) break;
  }
  ftruncateSync(file, logOffset(header.pageBytes, log.position.frames));
  return log;
}

/** Writes the pages of a log to a database file, whose size then is that after the last transaction. */
export function applyFrames(file: number, { file: log, header, position, pages }: OpenLog): void {
  if (position.frames === 0) return;
  const size = frameBytes(header.pageBytes);
  const most = Math.ceil(PIECE_BYTES / size);
  for (let frames = 0; frames < position.frames; frames += most) {
    const wanted = Math.min(most, position.frames - frames);
    const bytes = readAt(log, logOffset(header.pageBytes, frames), wanted * size);
    if (bytes.length !== wanted * size) throw new Error("the copy of the log has become shorter");
    for (let at = 0; at < bytes.length; at += size) {
      const frame = bytes.subarray(at, at + size);
      writeAllAt(file, frame.subarray(FRAME_HEADER_BYTES), (pageOf(frame) - 1) * header.pageBytes);
    }
  }
  ftruncateSync(file, pages * header.pageBytes);
}

export function writeAllAt(file: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.byteLength; ) {
    written += writeSync(file, bytes, written, bytes.byteLength - written, position + written);
  }
}
