import { createHash } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import type { EmbeddedPart } from "../../src/program/contents.ts";
import { trailerOf } from "../../src/program/inner-program.ts";
import type { PackedProgram } from "../../src/program/unpack.ts";

/** A file like the product's, with packed parts and a packed inner program. */
export interface TestProgram extends Omit<PackedProgram, "file"> {
  readonly path: string;
}

/** Writes a file with a program, a larger part of bytes that cannot be compressed, and an inner program. */
export async function makeProgram(path: string, largeBytes = 3_000_000): Promise<TestProgram> {
  const script = new TextEncoder().encode("#!/bin/sh\nexit 0\n");
  const large = new Uint8Array(largeBytes);
  for (let i = 0; i < large.length; i += 65_536) crypto.getRandomValues(large.subarray(i, i + 65_536));
  const frames: Uint8Array[] = [new TextEncoder().encode("the launcher")];
  const pack = async (name: string, content: Uint8Array, executable: boolean): Promise<EmbeddedPart> => {
    const offset = frames.reduce((sum, { length }) => sum + length, 0);
    const frame = await Bun.zstdCompress(content);
    frames.push(frame);
    const sha256 = createHash("sha256").update(content).digest("hex");
    return { path: name, bytes: content.length, sha256, executable, offset, packedBytes: frame.length };
  };
  const parts = [await pack("native/program", script, true), await pack("models/large.bin", large, false)];
  const inner = await pack("transcribe", script, true);
  await Bun.write(path, Buffer.concat([...frames, trailerOf(inner)]));
  return { path, parts, inner };
}

/** Calls `use` with the program's file open. */
export async function withFile<T>({ path, ...program }: TestProgram, use: (program: PackedProgram) => Promise<T>) {
  const file = openSync(path, "r");
  try {
    return await use({ ...program, file });
  } finally {
    closeSync(file);
  }
}
