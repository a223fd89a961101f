import { createHash } from "node:crypto";
import { readFile, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const digestName = "sha256";

/** Stores a digest of an encoder's files, so that damage to them is detected. */
export async function writeDigest(directory: string, names: readonly string[]): Promise<void> {
  await writeFile(join(directory, digestName), await digestOf(directory, names), { flush: true });
}

/** Returns whether all files of a built encoder exist and match the stored digest. @param path of its ONNX file */
export async function isSound(path: string, names: readonly string[]): Promise<boolean> {
  try {
    const directory = dirname(path);
    return (await readFile(join(directory, digestName), "utf8")) === (await digestOf(directory, names));
  } catch {
    return false;
  }
}

/** Records that a built encoder is used now. */
export async function noteUse(directory: string, now: Date): Promise<void> {
  await utimes(join(directory, digestName), now, now);
}

/** Returns the time when an encoder was built or last used. @throws {Error} when there is none */
export async function lastUse(directory: string): Promise<Date> {
  return (await stat(join(directory, digestName))).mtime;
}

async function digestOf(directory: string, names: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const name of names) for await (const bytes of Bun.file(join(directory, name)).stream()) hash.update(bytes);
  return hash.digest("hex");
}
