import { createHash } from "node:crypto";
import { join } from "node:path";
import type { EmbeddedPart } from "../../src/program/unpack-child.ts";

/** Writes packed parts into a directory: a program, and a larger file of bytes that cannot be compressed. */
export async function makeParts(directory: string, largeBytes = 3_000_000): Promise<EmbeddedPart[]> {
  const program = new TextEncoder().encode("#!/bin/sh\nexit 0\n");
  const large = new Uint8Array(largeBytes);
  for (let i = 0; i < large.length; i += 65_536) crypto.getRandomValues(large.subarray(i, i + 65_536));
  return [
    await makePart(directory, "native/program", program, true),
    await makePart(directory, "models/large.bin", large, false),
  ];
}

export async function makePart(
  directory: string,
  path: string,
  content: Uint8Array,
  executable: boolean,
): Promise<EmbeddedPart> {
  const sha256 = createHash("sha256").update(content).digest("hex");
  const packed = join(directory, `${sha256}.zst`);
  await Bun.write(packed, await Bun.zstdCompress(content));
  return { path, bytes: content.length, sha256, executable, packed };
}
