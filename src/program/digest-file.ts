import { createReadStream } from "node:fs";

/**
 * Computes a file's digest in lower-case hexadecimal, reading it in chunks.
 * @throws the file system's error when the file cannot be read
 */
export async function digestFile(path: string, algorithm: "sha256" | "sha1"): Promise<string> {
  const hasher = new Bun.CryptoHasher(algorithm);
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hasher.update(piece);
  return hasher.digest("hex");
}
