// The header structure of RPM's V4 package format (rpm.org, "RPM Package Header format"). Integers are big-endian.

/** The first bytes of a header: magic number, version 1, four reserved bytes. */
const MAGIC = Buffer.from("8eade80100000000", "hex");
/** Bytes of an entry of the index: tag, type, offset, count. */
const ENTRY_BYTES = 16;
/** Smallest tag outside of regions. */
const FIRST_TAG = 100;

const TYPES = { int16: 3, int32: 4, string: 6, binary: 7, strings: 8, translated: 9 } as const;
const INTEGER_BYTES = { int16: 2, int32: 4 } as const;

/** A tag with its value, as it is stored. */
export interface HeaderEntry {
  readonly tag: number;
  readonly type: keyof typeof TYPES;
  readonly count: number;
  readonly data: Buffer;
}

/** Returns an entry with unsigned integers of two bytes. @throws {Error} if one of them does not fit */
export function int16(tag: number, values: readonly number[]): HeaderEntry {
  return integers(tag, "int16", values);
}

/** Returns an entry with unsigned integers of four bytes. @throws {Error} if one of them does not fit */
export function int32(tag: number, values: readonly number[]): HeaderEntry {
  return integers(tag, "int32", values);
}

function integers(tag: number, type: keyof typeof INTEGER_BYTES, values: readonly number[]): HeaderEntry {
  const bytes = INTEGER_BYTES[type];
  const data = Buffer.alloc(values.length * bytes);
  for (const [index, value] of values.entries()) {
    if (!Number.isInteger(value)) throw new Error(`the value ${value} of the tag ${tag} is no integer`);
    data.writeUIntBE(value, index * bytes, bytes);
  }
  return { tag, type, count: values.length, data };
}

/** Returns an entry with one text. */
export function text(tag: number, value: string): HeaderEntry {
  return { tag, type: "string", count: 1, data: terminated(tag, [value]) };
}

/** Returns an entry with a list of texts. */
export function texts(tag: number, values: readonly string[]): HeaderEntry {
  return { tag, type: "strings", count: values.length, data: terminated(tag, values) };
}

/** Returns an entry with a text in the only language of the header's table of languages. */
export function translatedText(tag: number, value: string): HeaderEntry {
  return { tag, type: "translated", count: 1, data: terminated(tag, [value]) };
}

/** Returns an entry with bytes. */
export function binary(tag: number, data: Buffer): HeaderEntry {
  return { tag, type: "binary", count: data.length, data };
}

function terminated(tag: number, values: readonly string[]): Buffer {
  if (values.some((value) => value.includes("\0"))) throw new Error(`a text of the tag ${tag} contains a zero byte`);
  return Buffer.from(values.map((value) => `${value}\0`).join(""));
}

/**
 * Encodes a header as one immutable region: the region's entry is the first of the index, its trailer the last of the
 * data. rpm reads the header only if entries and data are in the order of the tags, and integers are aligned.
 * @param region tag of the region
 * @throws {Error} for a tag without a value, a tag that occurs twice, or a tag below 100
 */
export function encodeHeader(region: number, entries: readonly HeaderEntry[]): Buffer {
  const sorted = entries.toSorted((a, b) => a.tag - b.tag);
  const index: Buffer[] = [];
  const data: Buffer[] = [];
  let offset = 0;
  let previous = FIRST_TAG - 1;
  for (const entry of sorted) {
    if (entry.tag <= previous) throw new Error(`the tag ${entry.tag} is not valid, or occurs twice`);
    if (entry.count === 0) throw new Error(`the tag ${entry.tag} has no value`);
    previous = entry.tag;
    const padding = -offset & (alignmentOf(entry.type) - 1);
    index.push(indexEntry(entry.tag, TYPES[entry.type], offset + padding, entry.count));
    data.push(Buffer.alloc(padding), entry.data);
    offset += padding + entry.data.length;
  }
  const entryCount = sorted.length + 1;
  // The trailer's offset is negative: it leads back to the beginning of the region's index.
  const trailer = indexEntry(region, TYPES.binary, -entryCount * ENTRY_BYTES, ENTRY_BYTES);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(entryCount, 0);
  lengths.writeUInt32BE(offset + ENTRY_BYTES, 4);
  const regionEntry = indexEntry(region, TYPES.binary, offset, ENTRY_BYTES);
  return Buffer.concat([MAGIC, lengths, regionEntry, ...index, ...data, trailer]);
}

function alignmentOf(type: HeaderEntry["type"]): number {
  return type === "int16" || type === "int32" ? INTEGER_BYTES[type] : 1;
}

function indexEntry(tag: number, type: number, offset: number, count: number): Buffer {
  const entry = Buffer.alloc(ENTRY_BYTES);
  entry.writeUInt32BE(tag, 0);
  entry.writeUInt32BE(type, 4);
  entry.writeInt32BE(offset, 8);
  entry.writeUInt32BE(count, 12);
  return entry;
}
