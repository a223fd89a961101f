import { gunzipSync } from "node:zlib";

// Reads RPM packages as strictly as rpm itself (rpm.org: "V4 Package format", "RPM Package Header format"). It shares no
// code with the writer, so that both can't have the same fault.

/** Value of a tag: integers, texts or bytes. */
type Value = number[] | string[] | Buffer;

interface RpmHeader {
  readonly tags: ReadonlyMap<number, Value>;
  /** Types of the tags, in rpm's numbers. */
  readonly types: ReadonlyMap<number, number>;
  /** The header as it is stored. */
  readonly bytes: Buffer;
}

/** A member of the payload. */
export interface RpmMember {
  readonly name: string;
  readonly inode: number;
  readonly mode: number;
  readonly owners: readonly [user: number, group: number];
  readonly links: number;
  readonly modified: number;
  readonly content: Buffer;
}

interface RpmPackage {
  readonly lead: Buffer;
  readonly signature: RpmHeader;
  readonly header: RpmHeader;
  /** The compressed payload. */
  readonly payload: Buffer;
  /** The payload without its compression. */
  readonly archive: Buffer;
  readonly members: readonly RpmMember[];
}

/** Reads a package. @throws {Error} with the first violation of the format */
export function readRpm(file: Buffer): RpmPackage {
  const lead = file.subarray(0, 96);
  ensure(lead.toString("hex", 0, 8) === "edabeedb03000000", "the lead is no lead of a binary package");
  ensure(lead.readUInt16BE(76) === 1 && lead.readUInt16BE(78) === 5, "the lead names another system or signature");
  const signature = readHeader(file.subarray(96), 62);
  const signatureEnd = 96 + signature.bytes.length;
  const start = Math.ceil(signatureEnd / 8) * 8;
  ensure(
    file.subarray(signatureEnd, start).every((byte) => byte === 0),
    "the padding of the signature is not zero",
  );
  const header = readHeader(file.subarray(start), 63);
  const payload = file.subarray(start + header.bytes.length);
  const archive = gunzipSync(payload);
  return { lead, signature, header, payload, archive, members: readArchive(archive) };
}

/** Sizes of the types INT16, INT32, STRING, BIN, STRING_ARRAY and I18NSTRING; 0 for texts. */
const TYPE_BYTES: Readonly<Record<number, number>> = { 3: 2, 4: 4, 6: 0, 7: 1, 8: 0, 9: 0 };

function readHeader(bytes: Buffer, region: number): RpmHeader {
  ensure(bytes.toString("hex", 0, 8) === "8eade80100000000", "a header begins with other bytes");
  const [entryCount, dataBytes] = [bytes.readUInt32BE(8), bytes.readUInt32BE(12)];
  const dataStart = 16 + entryCount * 16;
  const data = bytes.subarray(dataStart, dataStart + dataBytes);
  ensure(data.length === dataBytes, "a header is longer than the file");
  const entryAt = (at: number) => ({
    ...{ tag: bytes.readUInt32BE(at), type: bytes.readUInt32BE(at + 4) },
    ...{ offset: bytes.readInt32BE(at + 8), count: bytes.readUInt32BE(at + 12) },
  });
  const first = entryAt(16);
  const trailerAt = dataBytes - 16;
  ensure(first.tag === region && first.type === 7 && first.count === 16, "the first entry is not that of the region");
  ensure(first.offset === trailerAt, "the trailer of the region is not the end of the data");
  const trailer = entryAt(dataStart + trailerAt);
  ensure(trailer.tag === region && trailer.type === 7 && trailer.count === 16, "the trailer is not that of the region");
  ensure(-trailer.offset === entryCount * 16, "the region does not contain all entries");

  const tags = new Map<number, Value>();
  const types = new Map<number, number>();
  let previous = 99;
  let end = 0;
  for (let index = 1; index < entryCount; index++) {
    const { tag, type, offset, count } = entryAt(16 + index * 16);
    const size = TYPE_BYTES[type];
    ensure(tag > previous, `the tag ${tag} follows ${previous}`);
    ensure(size !== undefined && count > 0, `the tag ${tag} has the type ${type} and ${count} values`);
    ensure(offset % Math.max(size ?? 1, 1) === 0, `the data of the tag ${tag} is not aligned`);
    ensure(offset >= end && offset - end < 4, `the data of the tag ${tag} does not follow the previous one`);
    ensure(
      data.subarray(end, offset).every((byte) => byte === 0),
      `there is something before the tag ${tag}`,
    );
    const { value, bytes: length } = readValue(data.subarray(offset, trailerAt), type, count);
    tags.set(tag, value);
    types.set(tag, type);
    previous = tag;
    end = offset + length;
  }
  ensure(end === trailerAt, "there is something between the last tag and the trailer");
  return { tags, types, bytes: bytes.subarray(0, dataStart + dataBytes) };
}

function readValue(data: Buffer, type: number, count: number): { value: Value; bytes: number } {
  const size = TYPE_BYTES[type] ?? 0;
  if (size > 0) {
    ensure(count * size <= data.length, "a value is longer than the data");
    const numbers = () => Array.from({ length: count }, (_, index) => data.readUIntBE(index * size, size));
    return { value: type === 7 ? data.subarray(0, count) : numbers(), bytes: count * size };
  }
  ensure(type === 8 || count === 1, "a text has several values");
  const found: string[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    const end = data.indexOf(0, at);
    ensure(end >= 0, "a text has no end");
    found.push(data.toString("utf8", at, end));
    at = end + 1;
  }
  return { value: found, bytes: at };
}

function readArchive(archive: Buffer): RpmMember[] {
  const members: RpmMember[] = [];
  for (let at = 0; ; ) {
    ensure(archive.toString("latin1", at, at + 6) === "070701", `there is no member at ${at}`);
    const [inode = 0, mode = 0, user = 0, group = 0, links = 0, modified = 0, size = 0, ...others] = Array.from(
      { length: 13 },
      (_, index) => Number.parseInt(archive.toString("latin1", at + 6 + index * 8, at + 14 + index * 8), 16),
    );
    const [deviceMajor, deviceMinor, typeMajor, typeMinor, nameBytes = 0, checksum] = others;
    const nameEnd = at + 110 + nameBytes - 1;
    ensure(
      [deviceMajor, deviceMinor, typeMajor, typeMinor, checksum].every((each) => each === 0),
      "a device",
    );
    ensure(archive[nameEnd] === 0, "a name has no end");
    const name = archive.toString("utf8", at + 110, nameEnd);
    const start = aligned(nameEnd + 1);
    const end = start + size;
    ensure(
      archive.subarray(nameEnd, start).every((byte) => byte === 0),
      `the padding of ${name} is not zero`,
    );
    ensure(
      archive.subarray(end, aligned(end)).every((byte) => byte === 0),
      `the end of ${name} is not zero`,
    );
    at = aligned(end);
    if (name === "TRAILER!!!") {
      ensure(at === archive.length && size === 0, "there is something after the last member");
      return members;
    }
    members.push({ name, inode, mode, owners: [user, group], links, modified, content: archive.subarray(start, end) });
  }
}

function aligned(at: number): number {
  return Math.ceil(at / 4) * 4;
}

function ensure(isValid: boolean, violation: string): void {
  if (!isValid) throw new Error(violation);
}
