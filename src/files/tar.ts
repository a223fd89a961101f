/**
 * Tar archives of regular files (POSIX.1-1988 ustar). A header has no owner and no time, so each file has exactly one
 * header. A reader accepts only that one: no links, no further metadata, one spelling of each number.
 */

/** A file in a tar archive, the only kind of entry in our archives. */
interface TarFile {
  readonly name: string;
  readonly sizeBytes: number;
}

export const BLOCK_BYTES = 512;
/** Maximum size that a header's eleven octal digits can hold. Larger sizes are written in base 256, as GNU tar does. */
export const MAX_FILE_BYTES = 8 ** 11 - 1;

/** Returns whether a file with these first bytes is a tar archive, of this form or another. */
export function isTar(start: Buffer): boolean {
  return start.toString("latin1", 257, 262) === "ustar";
}

/** Returns the header of a file. */
export function header({ name, sizeBytes }: TarFile): Uint8Array {
  if (name.length > 100) throw new RangeError(`${name} is too long for a tar header`);
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0, "ascii");
  block.write("0000644\0", 100, "ascii");
  block.write("0000000\0", 108, "ascii");
  block.write("0000000\0", 116, "ascii");
  if (sizeBytes <= MAX_FILE_BYTES) block.write(`${sizeBytes.toString(8).padStart(11, "0")}\0`, 124, "ascii");
  else {
    block.writeUInt8(0x80, 124);
    block.writeBigUInt64BE(BigInt(sizeBytes), 128);
  }
  block.write("00000000000\0", 136, "ascii");
  block.write("        ", 148, "ascii");
  block.write("0", 156, "ascii");
  block.write("ustar\x0000", 257, "ascii");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
  return block;
}

/** Returns the number of zero bytes that follow a file, up to the next block. */
export function padding(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** Returns the file that a header describes if `header` makes the same bytes; null for any other bytes. */
export function readHeader(block: Uint8Array): TarFile | null {
  if (block.byteLength !== BLOCK_BYTES) return null;
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  const name = bytes.toString("ascii", 0, 100).replace(/\0.*$/s, "");
  const isLarge = bytes.readUInt8(124) === 0x80;
  const sizeBytes = isLarge
    ? Number(bytes.readBigUInt64BE(128))
    : Number.parseInt(bytes.toString("ascii", 124, 135), 8);
  if (!Number.isSafeInteger(sizeBytes)) return null;
  const file = { name, sizeBytes };
  return Buffer.compare(header(file), bytes) === 0 ? file : null;
}
