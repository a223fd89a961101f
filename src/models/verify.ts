import { findModel, type ModelEntry } from "./catalogue.ts";
import { digestsOf, isPublished } from "./digest.ts";
import type { InstalledModel } from "./library.ts";

/** Description of a model's damage; null if the model is undamaged. */
export type Damage = string | null;

/** Compares an installed model with the size and digest noted at its installation, and with the published ones. */
export async function verifyInstalled(
  model: InstalledModel,
  catalogue: readonly ModelEntry[],
  onProgress: (done: number, total: number) => void,
): Promise<Damage> {
  const digests = await digestsOf(model.path, (done) => onProgress(done, model.sizeBytes));
  if (digests.sizeBytes !== model.sizeBytes) return `it has ${digests.sizeBytes} bytes, not ${model.sizeBytes}`;
  if (digests.sha256 !== model.sha256) return `its SHA-256 is ${digests.sha256}, not ${model.sha256}`;
  const entry = findModel(catalogue, model.id);
  if (entry !== null && !isPublished(entry, digests)) return "it has none of the digests that were published for it";
  return null;
}

/** Compares a built-in model with the published size and digests. */
export async function verifyBuiltIn(
  entry: ModelEntry,
  path: string,
  onProgress: (done: number, total: number) => void,
): Promise<Damage> {
  const total = Bun.file(path).size;
  const digests = await digestsOf(path, (done) => onProgress(done, total)).catch(() => null);
  if (digests === null) return `${path} can't be read`;
  return isPublished(entry, digests) ? null : "it has none of the digests that were published for it";
}
