import { createReadStream } from "node:fs";
import { digestFile, isCompiled } from "../program/index.ts";
import { findModel, type ModelEntry, sizeFits } from "./catalogue.ts";
import type { InstalledModel } from "./library.ts";

/** A published digest, in lower-case hexadecimal. */
export interface Digest {
  readonly algorithm: "sha256" | "sha1";
  readonly hex: string;
}

/** A file's size and digests. */
export interface FileDigests {
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly sha1: string;
}

/** Incremental computation of the size and the digests of a stream. */
export class DigestMeter {
  readonly #sha256 = new Bun.CryptoHasher("sha256");
  readonly #sha1 = new Bun.CryptoHasher("sha1");
  #sizeBytes = 0;

  update(chunk: Uint8Array): void {
    this.#sizeBytes += chunk.length;
    this.#sha256.update(chunk);
    this.#sha1.update(chunk);
  }

  finish(): FileDigests {
    return { sizeBytes: this.#sizeBytes, sha256: this.#sha256.digest("hex"), sha1: this.#sha1.digest("hex") };
  }
}

/** Computes size and both digests of a file in one streaming read. @param onProgress receives the bytes read so far */
export async function digestsOf(path: string, onProgress: (bytes: number) => void = () => {}): Promise<FileDigests> {
  const meter = new DigestMeter();
  let done = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    meter.update(chunk);
    done += chunk.length;
    onProgress(done);
  }
  return meter.finish();
}

/** Returns all digests published for the model: its own, and those of its downloads, whose format may differ. */
export function publishedDigests(entry: ModelEntry): Digest[] {
  const digests: Digest[] = entry.sha256 === undefined ? [] : [{ algorithm: "sha256", hex: entry.sha256 }];
  for (const source of entry.sources) {
    if (source.type === "download") digests.push({ algorithm: "sha1", hex: source.sha1 });
  }
  return digests;
}

/** Returns whether a file with these digests is the model as published. */
export function isPublished(entry: ModelEntry, digests: FileDigests): boolean {
  return (
    sizeFits(entry, digests.sizeBytes) &&
    publishedDigests(entry).some(({ algorithm, hex }) => digests[algorithm] === hex)
  );
}

/**
 * Compares an installed model with the size and digest noted at its installation, and with the published ones.
 * @returns a description of the damage; null if the model is undamaged
 */
export async function verifyInstalled(
  model: InstalledModel,
  catalogue: readonly ModelEntry[],
  onProgress: (done: number, total: number) => void = () => {},
): Promise<string | null> {
  const digests = await digestsOf(model.path, (done) => onProgress(done, model.sizeBytes));
  if (digests.sizeBytes !== model.sizeBytes) return `it has ${digests.sizeBytes} bytes, not ${model.sizeBytes}`;
  if (digests.sha256 !== model.sha256) return `its SHA-256 is ${digests.sha256}, not ${model.sha256}`;
  const entry = findModel(catalogue, model.id);
  if (entry !== null && !isPublished(entry, digests)) return "it has none of the digests that were published for it";
  return null;
}

/**
 * Returns the SHA-256 of a built-in model's file if it is not the one file that releases contain; else null. A compiled
 * program contains only that file, so it is not read. From source, another published file may be in its place.
 */
export async function foreignWeights(entry: ModelEntry, path: string): Promise<string | null> {
  if (isCompiled || entry.sha256 === undefined) return null;
  const sha256 = await digestFile(path, "sha256").catch(() => entry.sha256);
  return sha256 === undefined || sha256 === entry.sha256 ? null : sha256;
}

/**
 * Compares a built-in model with the published size and digests. A compiled program accepts only the file of its release.
 * @returns a description of the damage; null if the model is undamaged
 */
export async function verifyBuiltIn(
  entry: ModelEntry,
  path: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<string | null> {
  const total = Bun.file(path).size;
  const digests = await digestsOf(path, (done) => onProgress(done, total)).catch(() => null);
  if (digests === null) return `${path} can't be read`;
  if (isCompiled && digests.sha256 !== entry.sha256) return `its SHA-256 is ${digests.sha256}, not ${entry.sha256}`;
  return isPublished(entry, digests) ? null : "it has none of the digests that were published for it";
}
