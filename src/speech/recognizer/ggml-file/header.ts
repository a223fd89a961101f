import type { FileReader } from "./file-reader.ts";

/** "ggml" in the byte order of the file. */
const MAGIC = 0x67676d6c;
/** Divisor of a header's number for the form of the weights; the quotient is the version of quantization. */
const VERSION_FACTOR = 1000;

/** Reads a file's first number. @returns whether it is ggml's, and the given number of further ones can follow it */
export function hasHeader(reader: FileReader, numbers: number): boolean {
  return reader.size >= (1 + numbers) * Int32Array.BYTES_PER_ELEMENT && reader.int32() === MAGIC;
}

/** Reads numbers by their names, which are in file order. @throws {ModelFileError} */
export function readNumbers<N extends string>(reader: FileReader, names: readonly N[]): Record<N, number> {
  return Object.fromEntries(names.map((name) => [name, reader.int32()])) as Record<N, number>;
}

/** Returns the header's number for the form of the weights (ggml.h, `enum ggml_ftype`) without the version. No form is negative. */
export function formOf({ weightForm }: { readonly weightForm: number }): number {
  return weightForm < 0 ? weightForm : weightForm % VERSION_FACTOR;
}
