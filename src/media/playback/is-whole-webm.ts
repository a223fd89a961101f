import { open } from "node:fs/promises";

const EBML_ID = 0x1a45dfa3;
const SEGMENT_ID = 0x18538067;
const HEAD_BYTES = 256;

/**
 * Returns whether a WebM file was written completely. The segment header contains the segment's length only after that;
 * before, it marks the length as unknown (RFC 8794, 6.2; RFC 9559, 5.1).
 */
export async function isWholeWebm(path: string): Promise<boolean> {
  await using file = await open(path, "r");
  const { buffer: head, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  if (bytesRead < HEAD_BYTES || head.readUInt32BE(0) !== EBML_ID) return false;
  const header = elementSize(head, 4);
  if (header === null || header.end + header.bytes + 12 > HEAD_BYTES) return false;
  const segmentAt = header.end + header.bytes;
  const segment = head.readUInt32BE(segmentAt) === SEGMENT_ID ? elementSize(head, segmentAt + 4) : null;
  return segment !== null && segment.end + segment.bytes === (await file.stat()).size;
}

/**
 * Reads the length of an element. `end` is the offset at which the element's content begins. Returns null if the length
 * is unknown.
 */
function elementSize(head: Buffer, at: number): { readonly bytes: number; readonly end: number } | null {
  const length = Math.clz32(head.readUInt8(at)) - 23;
  if (length > 8) return null;
  let bytes = head.readUInt8(at) & (0xff >> length);
  for (let index = 1; index < length; index++) bytes = bytes * 256 + head.readUInt8(at + index);
  return bytes === 2 ** (7 * length) - 1 ? null : { bytes, end: at + length };
}
