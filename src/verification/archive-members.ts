import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { tar } from "../files/index.ts";
import { codeOf } from "../text/index.ts";
import { ByteStream, FormatError } from "./byte-stream.ts";

/** Most bytes that one file may unpack to. A package of 0.3.0 has 420 MB. */
const MAX_UNPACKED_BYTES = 2 * 1024 ** 3;
/** Most members of all archives in one file. A package of 0.3.0 has about 100, an image 400. */
const MAX_MEMBERS = 20_000;
/** Longest name of a member, as Linux limits paths. */
const MAX_NAME_BYTES = 4096;

/** Counts what is unpacked of one file, over all archives in it. */
export class UnpackingLimits {
  #members = 0;
  #bytes = 0;

  /** @throws {FormatError} when the file has too many members */
  countMember(): void {
    this.#members += 1;
    if (this.#members > MAX_MEMBERS) throw new FormatError(`it has more than ${MAX_MEMBERS} members`);
  }

  /** @throws {FormatError} when the file unpacks to too many bytes */
  countBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_UNPACKED_BYTES) throw new FormatError(`it unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
  }
}

/** A member of an archive. */
export interface Member {
  readonly name: string;
  /** Whether it is a regular file. */
  readonly isFile: boolean;
  /** Can be read until the next member is requested, which skips the rest. */
  readonly content: ByteStream;
}

/**
 * Unpacks gzip (RFC 1952), at the consumer's pace.
 * @throws {FormatError} when the data is damaged or unpacks to too many bytes
 */
export async function* gunzip(packed: ByteStream, limits: UnpackingLimits): AsyncGenerator<Buffer> {
  const unpacked = createGunzip({ chunkSize: 1 << 20 });
  // The loop below throws the errors of both streams.
  pipeline(Readable.from(packed.pieces()), unpacked, () => {});
  try {
    for await (const piece of unpacked) {
      limits.countBytes(piece.length);
      yield piece;
    }
  } catch (error) {
    if (codeOf(error).startsWith("Z_")) throw new FormatError("its compressed data is damaged");
    throw error;
  }
}

/** Returns whether a file with these first bytes is an archive of ar, such as a Debian package. */
export function isAr(start: Buffer): boolean {
  return start.toString("latin1", 0, 8) === "!<arch>\n";
}

/**
 * Reads the members of an archive of ar (deb(5)).
 * @throws {FormatError} when the archive is damaged
 */
export async function* arMembers(archive: ByteStream, limits: UnpackingLimits): AsyncGenerator<Member> {
  await archive.skip(8);
  while ((await archive.peek(1)).length > 0) {
    limits.countMember();
    const header = (await archive.take(60)).toString("latin1");
    const size = /^(\d{1,10}) *`\n$/.exec(header.slice(48))?.[1];
    if (size === undefined) throw damagedHeader();
    // GNU's ar ends a name with a slash.
    const name = header.slice(0, 16).trimEnd().replace(/\/$/, "");
    const content = new ByteStream(archive.pieces(Number(size)));
    yield { name, isFile: true, content };
    await content.skip();
    await archive.skip(Number(size) % 2);
  }
}

/** Types of tar's members: regular files in two spellings, links, links by path, and directories. */
const FILE_TYPES = ["0", "\0"];
const EMPTY_TYPES = ["1", "2", "5"];
/** A member of GNU tar whose content is the name, of more than 100 bytes, of the next member. */
const LONG_NAME_TYPE = "L";

/**
 * Reads the members of a tar archive in the formats of POSIX.1-1988 (ustar) and GNU.
 * @throws {FormatError} when the archive is damaged, or has members that dpkg-deb and our scripts do not write
 */
export async function* tarMembers(archive: ByteStream, limits: UnpackingLimits): AsyncGenerator<Member> {
  let longName: string | null = null;
  for (;;) {
    const header = await archive.take(tar.BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    limits.countMember();
    const { name, type, sizeBytes } = readTarHeader(header);
    const content = new ByteStream(archive.pieces(sizeBytes));
    if (type === LONG_NAME_TYPE) {
      if (sizeBytes > MAX_NAME_BYTES) throw damagedHeader();
      longName = textOf(await content.take(sizeBytes));
    } else {
      yield { name: longName ?? name, isFile: FILE_TYPES.includes(type), content };
      longName = null;
    }
    await content.skip();
    await archive.skip(tar.padding(sizeBytes));
  }
  // tar fills its last record with zeros.
  await archive.skip();
}

function readTarHeader(header: Buffer): { readonly name: string; readonly type: string; readonly sizeBytes: number } {
  const sum = header.reduce((total, byte) => total + byte, 0);
  const ownSum = header.subarray(148, 156).reduce((total, byte) => total + byte, 0);
  // The sum counts its own field as eight spaces.
  if (!tar.isTar(header) || octal(header.subarray(148, 156)) !== sum - ownSum + 8 * 0x20) throw damagedHeader();
  const type = header.toString("latin1", 156, 157);
  const sizeBytes = octal(header.subarray(124, 136));
  const isKnown =
    FILE_TYPES.includes(type) || type === LONG_NAME_TYPE || (EMPTY_TYPES.includes(type) && sizeBytes === 0);
  if (!isKnown) throw new FormatError(`it has a member of the unknown type ${JSON.stringify(type)}`);
  // GNU's form, whose magic has a space here, stores other things in the place of the name's prefix.
  const prefix = header[262] === 0 ? textOf(header.subarray(345, 500)) : "";
  const name = textOf(header.subarray(0, 100));
  return { name: prefix === "" ? name : `${prefix}/${name}`, type, sizeBytes };
}

/** Returns whether a file with these first bytes is an RPM package. */
export function isRpm(start: Buffer): boolean {
  return start.toString("hex", 0, 4) === "edabeedb";
}

/**
 * Reads an RPM package up to its payload (rpm.org, "V4 Package format"): the lead, the signature and the header.
 * @throws {FormatError} when the package is damaged
 */
export async function skipRpmHeaders(rpm: ByteStream): Promise<void> {
  await rpm.skip(96);
  const signatureBytes = await skipRpmHeader(rpm);
  await rpm.skip(-signatureBytes & 7);
  await skipRpmHeader(rpm);
}

/** Reads a header, whose entries have 16 bytes each. @returns its size */
async function skipRpmHeader(rpm: ByteStream): Promise<number> {
  const start = await rpm.take(16);
  if (start.toString("hex", 0, 4) !== "8eade801") throw damagedHeader();
  const sizeBytes = start.readUInt32BE(8) * 16 + start.readUInt32BE(12);
  await rpm.skip(sizeBytes);
  return start.length + sizeBytes;
}

/** Fields of the header of a member of cpio, after its magic number. */
const CPIO_FIELDS = { mode: 1, sizeBytes: 6, nameBytes: 11 } as const;
const FILE_TYPE_MASK = 0o170000;
const REGULAR_FILE = 0o100000;

/**
 * Reads the members of an archive of cpio in the format of SVR4 without checksums ("newc").
 * @throws {FormatError} when the archive is damaged
 */
export async function* cpioMembers(archive: ByteStream, limits: UnpackingLimits): AsyncGenerator<Member> {
  for (;;) {
    const header = (await archive.take(110)).toString("latin1");
    if (!/^070701[0-9a-fA-F]{104}$/.test(header)) throw damagedHeader();
    limits.countMember();
    const field = (index: number) => Number.parseInt(header.slice(6 + 8 * index, 14 + 8 * index), 16);
    const nameBytes = field(CPIO_FIELDS.nameBytes);
    if (nameBytes > MAX_NAME_BYTES) throw damagedHeader();
    const name = textOf(await archive.take(nameBytes));
    await archive.skip(-(header.length + nameBytes) & 3);
    if (name === "TRAILER!!!") break;
    const sizeBytes = field(CPIO_FIELDS.sizeBytes);
    const content = new ByteStream(archive.pieces(sizeBytes));
    yield { name, isFile: (field(CPIO_FIELDS.mode) & FILE_TYPE_MASK) === REGULAR_FILE, content };
    await content.skip();
    await archive.skip(-sizeBytes & 3);
  }
  await archive.skip();
}

function textOf(field: Buffer): string {
  return field.toString("latin1").replace(/\0.*$/s, "");
}

function octal(field: Buffer): number {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(field.toString("latin1"))?.[1];
  if (digits === undefined) throw damagedHeader();
  return Number.parseInt(digits, 8);
}

function damagedHeader(): FormatError {
  return new FormatError("a header in it is damaged");
}
