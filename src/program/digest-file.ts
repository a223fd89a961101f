/** SHA-256 of a file, in lower-case hexadecimal; null where it can't be read. */
export async function digestFile(path: string): Promise<string | null> {
  const hasher = new Bun.CryptoHasher("sha256");
  try {
    for await (const piece of Bun.file(path).stream()) hasher.update(piece);
  } catch {
    return null;
  }
  return hasher.digest("hex");
}
