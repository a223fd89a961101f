import { createReadStream } from "node:fs";

/** A file's digest, read in pieces, in lower-case hexadecimal. @throws what the file system says where it can't be read */
export async function digestFile(path: string, algorithm: "sha256" | "sha1"): Promise<string> {
  const hasher = new Bun.CryptoHasher(algorithm);
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) hasher.update(piece);
  return hasher.digest("hex");
}
