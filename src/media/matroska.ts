const EBML_ID = 0x1a45dfa3;
const SEGMENT_ID = 0x18538067;

/**
 * Returns the size of a Matroska or WebM file as its beginning promises it: where its segment ends (RFC 9559, 5.1).
 * Returns null for another file, and while the writer does not know the length.
 * @param head the beginning of the file
 */
export function promisedMatroskaBytes(head: Buffer): number | null {
  if (head.length < 32 || head.readUInt32BE(0) !== EBML_ID) return null;
  const header = elementSize(head, 4);
  if (header === null) return null;
  const segmentAt = header.end + header.bytes;
  if (segmentAt + 12 > head.length || head.readUInt32BE(segmentAt) !== SEGMENT_ID) return null;
  const segment = elementSize(head, segmentAt + 4);
  return segment === null ? null : segment.end + segment.bytes;
}

/**
 * Reads the length of an element (RFC 8794, 6), and the offset at which its content begins; null if the length is
 * unknown.
 */
function elementSize(head: Buffer, at: number): { readonly bytes: number; readonly end: number } | null {
  const length = Math.clz32(head.readUInt8(at)) - 23;
  if (length > 8) return null;
  let bytes = head.readUInt8(at) & (0xff >> length);
  for (let index = 1; index < length; index++) bytes = bytes * 256 + head.readUInt8(at + index);
  return bytes === 2 ** (7 * length) - 1 ? null : { bytes, end: at + length };
}
