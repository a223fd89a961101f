import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { ModelEntry } from "./catalogue.ts";

/** A published digest, in lower-case hexadecimal. */
export interface Digest {
  readonly algorithm: "sha256" | "sha1";
  readonly hex: string;
}

/** The file's digest, read in pieces. */
export async function digestFile(path: string, algorithm: Digest["algorithm"]): Promise<string> {
  const hasher = new Bun.CryptoHasher(algorithm);
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hasher.update(piece);
  return hasher.digest("hex");
}

/** Every digest published for the model: that of its own form, and those of its downloads, which may be another form. */
export function publishedDigests(entry: ModelEntry): Digest[] {
  const digests: Digest[] = [{ algorithm: "sha256", hex: entry.sha256 }];
  for (const source of entry.sources) {
    if (source.type === "download") digests.push({ algorithm: "sha1", hex: source.sha1 });
  }
  return digests;
}

/** Which of the model's published digests the file has; `undefined` where it has none of them, or another size. */
export async function matchingDigest(entry: ModelEntry, path: string): Promise<Digest | undefined> {
  if ((await stat(path)).size !== entry.bytes) return undefined;
  for (const digest of publishedDigests(entry)) {
    if ((await digestFile(path, digest.algorithm)) === digest.hex) return digest;
  }
  return undefined;
}
