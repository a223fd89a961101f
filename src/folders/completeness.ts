import type { values } from "../database/index.ts";
import { promisedMatroskaBytes } from "../media/index.ts";

/** Why a file seems to be incomplete. */
export type Doubt = (typeof values.doubts)[number];

/** Meaning of each doubt. */
export const doubtTexts: Readonly<Record<Doubt, string>> = {
  empty: "the file is empty",
  zeros: "the file ends with zeros, as one whose space was reserved and that is still written",
  short_wave: "the header of the WAVE file promises more than there is",
  short_mp4: "the index of the MP4 file is missing, or promises more than there is",
  cut_off: "the file ends before its header promises",
  unreadable: "the file can't be read as a recording",
  first_hour: "the file can't be transcribed; it is moved to failed when its folder has been watched for an hour",
};

/** Reads a part of a file; shorter only at its end. */
type ReadAt = (position: number, length: number) => Promise<Buffer>;

/** Length of the end of a file that is examined. Programs that reserve the whole size first leave zeros there. */
const ZEROS_BYTES = 4096;
/** Length of the beginning of a file that is examined. */
const HEAD_BYTES = 8192;
/** Length of the end in which the last page of an Ogg file, or the last frame of a FLAC file, begins. */
const TAIL_BYTES = 2 ** 17;
/** Maximum number of boxes of an MP4 file that are examined. A fragmented file has two for each fragment. */
const MAX_BOXES = 20_000;
/** Sizes from which a WAVE or AIFF header is that of a stream, whose length its writer did not know. SoX writes this one. */
const STREAMED_BYTES = 0x7f00_0000;

/**
 * Returns why a file seems to be only a part of a recording; null if it does not. A file that was copied completely may
 * seem so, e.g. because it ends with digital silence, so the answer only delays it.
 */
export async function doubtAbout(read: ReadAt, sizeBytes: number): Promise<Doubt | null> {
  if (sizeBytes === 0) return "empty";
  const end = (length: number) => read(Math.max(0, sizeBytes - length), Math.min(sizeBytes, length));
  if ((await end(ZEROS_BYTES)).every((byte) => byte === 0)) return "zeros";
  const head = await read(0, HEAD_BYTES);
  const form = head.toString("latin1", 0, 4);
  if (form === "RIFF" || form === "RF64") return isPartOfWave(head, sizeBytes) ? "short_wave" : null;
  if (/^(?:ftyp|moov|mdat|wide|skip|free)$/.test(head.toString("latin1", 4, 8))) {
    return (await isPartOfMp4(read, sizeBytes)) ? "short_mp4" : null;
  }
  if (form === "OggS") return isWholeOggEnd(await end(TAIL_BYTES)) ? null : "cut_off";
  if (form === "fLaC") return isWholeFlac(head, await end(TAIL_BYTES), sizeBytes) ? null : "cut_off";
  const promised =
    promisedMatroskaBytes(head) ?? bytesOfAsf(head) ?? bytesOfAiff(head) ?? (await bytesOfMp3(read, head));
  return promised !== null && promised > sizeBytes ? "cut_off" : null;
}

/** RIFF, "Multimedia Programming Interface and Data Specifications 1.0"; RF64, EBU Tech 3306. */
function isPartOfWave(head: Buffer, sizeBytes: number): boolean {
  if (head.length < 28) return true;
  if (head.toString("latin1", 0, 4) === "RF64") return Number(head.readBigUInt64LE(20)) + 8 > sizeBytes;
  const declared = head.readUInt32LE(4);
  // Some writers count the padding byte of an odd chunk without writing it.
  return declared < STREAMED_BYTES && declared + 7 > sizeBytes;
}

/** ISO/IEC 14496-12, 4.2: the boxes of a complete file end where the file ends, and one is an index. */
async function isPartOfMp4(read: ReadAt, sizeBytes: number): Promise<boolean> {
  let hasIndex = false;
  let at = 0;
  for (let boxes = 0; at < sizeBytes && boxes < MAX_BOXES; boxes++) {
    const head = await read(at, 16);
    if (head.length < 8) return true;
    const type = head.toString("latin1", 4, 8);
    if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return true;
    if (type === "moov" || type === "moof") hasIndex = true;
    const size = head.readUInt32BE(0);
    // The last box may extend to the end of the file.
    if (size === 0) return !hasIndex;
    const length = size === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : size;
    if (length < 8) return true;
    at += length;
  }
  return !hasIndex || at > sizeBytes;
}

/** RFC 3533, 6: the last page of a complete file ends where the file ends. */
function isWholeOggEnd(end: Buffer): boolean {
  const page = end.lastIndexOf(Buffer.from("OggS\0"));
  const segments = page < 0 ? undefined : end[page + 26];
  if (segments === undefined) return false;
  const sizes = end.subarray(page + 27, page + 27 + segments);
  return page + 27 + segments + sizes.reduce((sum, size) => sum + size, 0) <= end.length;
}

/** RFC 9639, 8.2 and 9.1: the last frame of a complete file ends with the last sample that the header counts. */
function isWholeFlac(head: Buffer, end: Buffer, sizeBytes: number): boolean {
  if (head.length < 42) return false;
  const samples = Number(head.readBigUInt64BE(18) & 0xf_ffff_ffffn);
  if (samples === 0) return true;
  const blockSamples = head.readUInt16BE(8);
  for (let at = end.length - 7; at >= 0; at--) {
    if (end[at] !== 0xff || ((end[at + 1] ?? 0) & 0xfe) !== 0xf8) continue;
    const endsAt = lastSampleOfFlacFrame(end.subarray(at, at + 17), blockSamples);
    if (endsAt !== null && endsAt <= samples) return endsAt === samples && endsWithCheckSum(end.subarray(at));
  }
  // The last frame may be longer than what was read.
  return end.length < sizeBytes;
}

/** RFC 9639, 9.3: the check sum after a frame makes that of the whole frame 0. Some programs add 128 bytes of ID3v1. */
function endsWithCheckSum(frame: Buffer): boolean {
  const isTagged = frame.length > 128 && frame.toString("latin1", frame.length - 128, frame.length - 125) === "TAG";
  return crc16(isTagged ? frame.subarray(0, -128) : frame) === 0;
}

/** Returns the number of samples up to the end of a FLAC frame; null if this is not the header of one. */
function lastSampleOfFlacFrame(frame: Buffer, blockSamples: number): number | null {
  const isVariable = ((frame[1] ?? 0) & 1) === 1;
  const sizeCode = (frame[2] ?? 0) >> 4;
  const rateCode = (frame[2] ?? 0) & 15;
  // The number of the frame, or of its first sample, is stored like a character in UTF-8, with up to 36 bits.
  const first = frame[4] ?? 0;
  const more = first < 0x80 ? 0 : Math.clz32(~(first << 24)) - 1;
  if (sizeCode === 0 || rateCode === 15 || first === 0xff || (first & 0xc0) === 0x80) return null;
  let number = more === 0 ? first : first & (0x3f >> more);
  for (let place = 5; place < 5 + more; place++) number = number * 64 + ((frame[place] ?? 0) & 0x3f);
  let at = 5 + more;
  let size = sizeCode === 1 ? 192 : sizeCode < 6 ? 576 << (sizeCode - 2) : 256 << (sizeCode - 8);
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateBytes = rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  if (frame.length < at + sizeBytes + rateBytes + 1) return null;
  if (sizeBytes > 0) size = frame.readUIntBE(at, sizeBytes) + 1;
  at += sizeBytes + rateBytes;
  if (crc8(frame.subarray(0, at)) !== frame[at]) return null;
  return (isVariable ? number : number * blockSamples) + size;
}

/** The check sum of FLAC frame headers, with the polynomial x^8 + x^2 + x + 1. */
const crc8 = (bytes: Buffer) => checkSum(bytes, 8, 0x07);
/** The check sum of FLAC frames, with the polynomial x^16 + x^15 + x^2 + 1. */
const crc16 = (bytes: Buffer) => checkSum(bytes, 16, 0x8005);

function checkSum(bytes: Buffer, width: 8 | 16, polynomial: number): number {
  const [top, mask] = [1 << (width - 1), (1 << width) - 1];
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) sum = ((sum << 1) ^ ((sum & top) === 0 ? 0 : polynomial)) & mask;
  }
  return sum;
}

const ASF_HEADER = Buffer.from("3026b2758e66cf11a6d900aa0062ce6c", "hex");
const ASF_FILE_PROPERTIES = Buffer.from("a1dcab8c47a9cf118ee400c00c205365", "hex");

/** Advanced Systems Format, 3.2: the size of the file, which a broadcast does not have. */
function bytesOfAsf(head: Buffer): number | null {
  const at = head.subarray(0, 16).equals(ASF_HEADER) ? head.indexOf(ASF_FILE_PROPERTIES) : -1;
  if (at < 0 || at + 92 > head.length) return null;
  const isBroadcast = (head.readUInt32LE(at + 88) & 1) === 1;
  return isBroadcast ? null : Number(head.readBigUInt64LE(at + 40));
}

/** Audio Interchange File Format 1.3. A recorder may leave the size 0 until the end. */
function bytesOfAiff(head: Buffer): number | null {
  const isAiff = head.length >= 12 && /^FORM....AIF[FC]$/s.test(head.toString("latin1", 0, 12));
  // Some writers count the padding byte of an odd chunk without writing it.
  if (!isAiff || head.readUInt32BE(4) >= STREAMED_BYTES) return null;
  return head.readUInt32BE(4) + 7;
}

/**
 * Returns the size that the first frame of an MP3 file gives: encoders store there how many bytes of frames follow. A
 * program that cuts without encoding may leave a larger number.
 */
async function bytesOfMp3(read: ReadAt, head: Buffer): Promise<number | null> {
  const hasTag = head.length > 10 && head.toString("latin1", 0, 3) === "ID3";
  // ID3v2.4, 3.1: seven bits of each byte count.
  const tag = hasTag ? 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((head[at] ?? 0) & 0x7f), 0) : 0;
  const start = hasTag ? await read(tag, 1024) : head.subarray(0, 1024);
  if (start.length === 0) return tag + 1;
  const frame = start.findIndex((byte, at) => byte === 0xff && ((start[at + 1] ?? 0) & 0xe0) === 0xe0);
  if (frame < 0) return null;
  const name = /Xing|Info|VBRI/.exec(start.toString("latin1", frame, frame + 44));
  const at = frame + (name?.index ?? 0);
  if (name === null || at + 16 > start.length) return null;
  if (name[0] === "VBRI") return tag + frame + start.readUInt32BE(at + 10);
  const flags = start.readUInt32BE(at + 4);
  const bytesAt = at + 8 + 4 * (flags & 1);
  return (flags & 2) === 0 ? null : tag + frame + start.readUInt32BE(bytesAt);
}
