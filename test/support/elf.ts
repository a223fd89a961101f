/** Properties of a shared library that make an attack harder. */
export interface Elf {
  readonly type: "shared" | "other";
  /** It has a GNU_RELRO segment: address tables become read-only after the library is loaded. */
  readonly isRelocationReadOnly: boolean;
  /** All symbols are bound at load time, so no part of these tables stays writable. */
  readonly bindsNow: boolean;
  readonly isStackExecutable: boolean;
  readonly hasTextRelocations: boolean;
  /** Number of segments that can be written to and executed. */
  readonly writableAndExecutable: number;
  /** Names of the imported functions and objects. */
  readonly imports: readonly string[];
}

/** Numbers of elf.h. */
const sharedObject = 3;
const segments = { load: 1, dynamic: 2, gnuStack: 0x6474e551, gnuRelro: 0x6474e552 } as const;
const flags = { execute: 1, write: 2 } as const;
const tags = { textRelocations: 22, bindNow: 24, flags: 30, flags1: 0x6ffffffb } as const;
const flagTextRelocations = 4;
const flagBindNow = 8;
const flag1Now = 1;
const dynamicSymbols = 11;

/** Reads a 64-bit little-endian ELF file, as on x86-64 and arm64. @throws {Error} for any other file */
export function readElf(bytes: Buffer): Elf {
  if (bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1)
    throw new Error("not a 64-bit ELF file");
  const programHeaders = table(bytes, 32, 54, 56);
  const sections = table(bytes, 40, 58, 60);
  const found = programHeaders.map((at) => ({
    kind: bytes.readUInt32LE(at),
    flags: bytes.readUInt32LE(at + 4),
    offset: Number(bytes.readBigUInt64LE(at + 8)),
    size: Number(bytes.readBigUInt64LE(at + 32)),
  }));
  const dynamic = found.find(({ kind }) => kind === segments.dynamic);
  const entries = dynamic === undefined ? new Map<number, number>() : dynamicEntries(bytes, dynamic);
  const entry = (tag: number) => entries.get(tag) ?? 0;
  const stack = found.find(({ kind }) => kind === segments.gnuStack);
  const both = flags.write | flags.execute;
  return {
    type: bytes.readUInt16LE(16) === sharedObject ? "shared" : "other",
    isRelocationReadOnly: found.some(({ kind }) => kind === segments.gnuRelro),
    bindsNow:
      entries.has(tags.bindNow) || (entry(tags.flags) & flagBindNow) !== 0 || (entry(tags.flags1) & flag1Now) !== 0,
    // Without this segment, Linux makes the stack executable.
    isStackExecutable: stack === undefined || (stack.flags & flags.execute) !== 0,
    hasTextRelocations: entries.has(tags.textRelocations) || (entry(tags.flags) & flagTextRelocations) !== 0,
    writableAndExecutable: found.filter((each) => each.kind === segments.load && (each.flags & both) === both).length,
    imports: importsOf(bytes, sections),
  };
}

/** Returns the positions of a table's entries. The arguments are positions in the ELF header. */
function table(bytes: Buffer, offsetAt: number, sizeAt: number, countAt: number): number[] {
  const offset = Number(bytes.readBigUInt64LE(offsetAt));
  const size = bytes.readUInt16LE(sizeAt);
  return Array.from({ length: bytes.readUInt16LE(countAt) }, (_, index) => offset + index * size);
}

function dynamicEntries(bytes: Buffer, { offset, size }: { offset: number; size: number }): Map<number, number> {
  const entries = new Map<number, number>();
  for (let at = offset; at < offset + size; at += 16) {
    entries.set(Number(bytes.readBigUInt64LE(at)), Number(bytes.readBigUInt64LE(at + 8) & 0xffffffffn));
  }
  return entries;
}

/** Returns the undefined dynamic symbols. */
function importsOf(bytes: Buffer, sections: readonly number[]): string[] {
  const symbols = sections.find((at) => bytes.readUInt32LE(at + 4) === dynamicSymbols);
  if (symbols === undefined) return [];
  const strings = sections[bytes.readUInt32LE(symbols + 40)] ?? 0;
  const names = Number(bytes.readBigUInt64LE(strings + 24));
  const start = Number(bytes.readBigUInt64LE(symbols + 24));
  const end = start + Number(bytes.readBigUInt64LE(symbols + 32));
  const imports: string[] = [];
  for (let at = start; at < end; at += 24) {
    if (bytes.readUInt16LE(at + 6) !== 0) continue;
    const name = names + bytes.readUInt32LE(at);
    imports.push(bytes.toString("latin1", name, bytes.indexOf(0, name)));
  }
  return imports.filter((name) => name !== "");
}
