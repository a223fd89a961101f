// The header structure of RPM's V4 package format (rpm.org, "RPM Package Header format"). Integers are big-endian.

/** The first bytes of a header: magic number, version 1, four reserved bytes. */
const MAGIC = Buffer.from("8eade80100000000", "hex");
/** Bytes of an entry of the index: tag, type, offset, count. */
const ENTRY_BYTES = 16;
/** Smallest tag outside of regions. */
const FIRST_TAG = 100;

const TYPES = { int16: 3, int32: 4, string: 6, binary: 7, strings: 8, translated: 9 } as const;
const INTEGER_BYTES = { int16: 2, int32: 4 } as const;

/** A tag, the type of its value, and the value. A translated text has the only language of the header's table. */
export type HeaderEntry =
  | readonly [tag: number, type: "int16", values: readonly number[]]
  | readonly [tag: number, type: "int32", values: readonly number[]]
  | readonly [tag: number, type: "strings", values: readonly string[]]
  | readonly [tag: number, type: "string" | "translated", value: string]
  | readonly [tag: number, type: "binary", data: Buffer];

/** Returns a value as it is stored. @throws {Error} if an integer does not fit, or a text contains a zero byte */
function stored([tag, type, value]: HeaderEntry): { readonly count: number; readonly data: Buffer } {
  if (type === "binary") return { count: value.length, data: value };
  if (type === "int16" || type === "int32") {
    const bytes = INTEGER_BYTES[type];
    const data = Buffer.alloc(value.length * bytes);
    for (const [index, each] of value.entries()) {
      if (!Number.isInteger(each)) throw new Error(`the value ${each} of the tag ${tag} is no integer`);
      data.writeUIntBE(each, index * bytes, bytes);
    }
    return { count: value.length, data };
  }
  const texts = typeof value === "string" ? [value] : value;
  if (texts.some((text) => text.includes("\0"))) throw new Error(`a text of the tag ${tag} contains a zero byte`);
  return { count: texts.length, data: Buffer.from(texts.map((text) => `${text}\0`).join("")) };
}

/**
 * Encodes a header as one immutable region: the region's entry is the first of the index, its trailer the last of the
 * data. rpm reads the header only if entries and data are in the order of the tags, and integers are aligned.
 * @throws {Error} for a tag without a value, a tag that occurs twice, or a tag below 100
 */
export function encodeHeader(region: number, entries: readonly HeaderEntry[]): Buffer {
  const sorted = entries.toSorted(([a], [b]) => a - b);
  const index: Buffer[] = [];
  const data: Buffer[] = [];
  let offset = 0;
  let previous = FIRST_TAG - 1;
  for (const entry of sorted) {
    const [tag, type] = entry;
    if (tag <= previous) throw new Error(`the tag ${tag} is not valid, or occurs twice`);
    const { count, data: value } = stored(entry);
    if (count === 0) throw new Error(`the tag ${tag} has no value`);
    previous = tag;
    const alignment = type === "int16" || type === "int32" ? INTEGER_BYTES[type] : 1;
    const padding = -offset & (alignment - 1);
    index.push(indexEntry(tag, TYPES[type], offset + padding, count));
    data.push(Buffer.alloc(padding), value);
    offset += padding + value.length;
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

function indexEntry(tag: number, type: number, offset: number, count: number): Buffer {
  const entry = Buffer.alloc(ENTRY_BYTES);
  entry.writeUInt32BE(tag, 0);
  entry.writeUInt32BE(type, 4);
  entry.writeInt32BE(offset, 8);
  entry.writeUInt32BE(count, 12);
  return entry;
}
