/** A file in a tar archive: the one kind of entry that bundles have. */
export interface TarFile {
  readonly name: string;
  readonly sizeBytes: number;
}

export const TAR_BLOCK_BYTES = 512;
/** What a header's eleven octal digits can say. */
export const TAR_MAX_FILE_BYTES = 8 ** 11 - 1;

const REGULAR_FILE = "0";

/** The header of a regular file (POSIX.1-1988 ustar), the same for the same file: readable by all, of no owner and time. */
export function tarHeader({ name, sizeBytes }: TarFile): Uint8Array {
  if (name.length > 100) throw new RangeError(`${name} is too long for a tar header`);
  if (sizeBytes > TAR_MAX_FILE_BYTES) throw new RangeError(`${name} is too large for a tar header`);
  const block = Buffer.alloc(TAR_BLOCK_BYTES);
  block.write(name, 0, "ascii");
  block.write("0000644\0", 100, "ascii");
  block.write("0000000\0", 108, "ascii");
  block.write("0000000\0", 116, "ascii");
  block.write(`${sizeBytes.toString(8).padStart(11, "0")}\0`, 124, "ascii");
  block.write("00000000000\0", 136, "ascii");
  block.write("        ", 148, "ascii");
  block.write(REGULAR_FILE, 156, "ascii");
  block.write("ustar\x0000", 257, "ascii");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
  return block;
}

/** How many zeros follow a file, up to the next block. */
export function tarPadding(sizeBytes: number): number {
  return (TAR_BLOCK_BYTES - (sizeBytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;
}
