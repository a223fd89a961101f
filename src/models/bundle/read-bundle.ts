import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { TAR_BLOCK_BYTES, tarHeader, tarPadding } from "../../storage/index.ts";
import { DigestMeter, type FileDigests } from "../digest.ts";
import { requireSpace } from "../disk-space.ts";
import { LibraryError } from "../library-error.ts";
import { archiveBytes, fileOf, MAX_MANIFEST_BYTES, type Manifest, manifestName, manifestSchema } from "./manifest.ts";

export interface UnpackedModel {
  readonly id: string;
  readonly file: string;
  readonly digests: FileDigests;
}

/**
 * Unpacks a bundle's models into a folder and checks the SHA-256 of each. The archive's layout and headers must be
 * exactly those that its manifest implies. This excludes unsafe paths, wrong sizes and files other than models.
 * @throws {LibraryError} for any other archive; the caller removes the files unpacked until then
 */
export async function readBundle(
  path: string,
  folder: string,
  onProgress: (done: number, total: number) => void,
): Promise<UnpackedModel[]> {
  await using archive = await open(path, "r");
  const { manifest, bytes } = await readManifest(archive);
  const { size } = await archive.stat();
  const expected = archiveBytes([bytes, ...manifest.models.map(({ sizeBytes }) => sizeBytes)]);
  if (size !== expected)
    throw broken(`it has ${size} bytes and should have ${expected}: it was cut off, or is none of ours`);
  await requireSpace(folder, expected);

  const unpacked: UnpackedModel[] = [];
  let offset = TAR_BLOCK_BYTES + bytes + tarPadding(bytes);
  for (const { id, sizeBytes, sha256 } of manifest.models) {
    await requireHeader(archive, offset, fileOf(id), sizeBytes);
    offset += TAR_BLOCK_BYTES;
    const file = join(folder, fileOf(id));
    const digests = await extract(path, { offset, sizeBytes }, file, (done) => onProgress(offset + done, size));
    if (digests.sha256 !== sha256)
      throw broken(`${id} does not have the SHA-256 that its manifest says; copy it again`);
    unpacked.push({ id, file, digests });
    offset += sizeBytes + tarPadding(sizeBytes);
  }
  return unpacked;
}

async function readManifest(archive: FileHandle): Promise<{ manifest: Manifest; bytes: number }> {
  const header = await readAt(archive, 0, TAR_BLOCK_BYTES);
  const bytes = Number.parseInt(header.toString("ascii", 124, 135), 8);
  if (!(bytes > 0 && bytes <= MAX_MANIFEST_BYTES)) throw broken(`it does not begin with ${manifestName}`);
  await requireHeader(archive, 0, manifestName, bytes);
  let manifest: unknown;
  try {
    manifest = JSON.parse((await readAt(archive, TAR_BLOCK_BYTES, bytes)).toString("utf8"));
  } catch {
    throw broken("its manifest is no JSON");
  }
  if (!Value.Check(manifestSchema, manifest))
    throw broken("its manifest has another form; it may be of a newer version");
  const ids = manifest.models.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) throw broken("it has a model twice");
  return { manifest, bytes };
}

/** Requires that the header equals, byte for byte, the header that `writeBundle` writes for this file. */
async function requireHeader(archive: FileHandle, offset: number, name: string, sizeBytes: number): Promise<void> {
  const expected = tarHeader({ name, sizeBytes });
  const found = await readAt(archive, offset, TAR_BLOCK_BYTES);
  if (!found.equals(expected)) throw broken(`${name} is not where its manifest says`);
}

async function readAt(archive: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await archive.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

async function extract(
  path: string,
  { offset, sizeBytes }: { readonly offset: number; readonly sizeBytes: number },
  file: string,
  onProgress: (done: number) => void,
): Promise<FileDigests> {
  const meter = new DigestMeter();
  let done = 0;
  await using output = await open(file, "wx");
  const end = offset + sizeBytes - 1;
  for await (const piece of createReadStream(path, { start: offset, end, highWaterMark: 1 << 20 })) {
    meter.update(piece);
    await output.appendFile(piece);
    done += piece.length;
    onProgress(done);
  }
  return meter.finish();
}

function broken(why: string): LibraryError {
  return new LibraryError(`this is no bundle of models, or a damaged one: ${why}`);
}
