import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { NewFile } from "../disk/index.ts";
import { readAt, tar } from "../files/index.ts";
import { modelIdSchema, sha256Schema } from "./catalogue.ts";
import { DigestMeter, type FileDigests } from "./digests.ts";
import type { InstalledModel } from "./library.ts";
import { ModelError, requireSpace } from "./model-error.ts";

/**
 * Name of a bundle's first file. A bundle is a tar archive of regular files: `manifest.json`, then the models that the
 * manifest lists, in its order, as `ID.bin`. Nothing is compressed, so the manifest determines the size of the archive.
 * `tar tf` lists the contents.
 */
const manifestName = "manifest.json";
const MAX_MANIFEST_BYTES = 64 * 1024;

const closed = { additionalProperties: false };

const manifestSchema = Type.Object(
  {
    format: Type.Literal("transcribe-models"),
    version: Type.Literal(1),
    models: Type.Array(
      Type.Object(
        {
          id: modelIdSchema,
          sizeBytes: Type.Integer({ minimum: 1, maximum: tar.MAX_FILE_BYTES }),
          sha256: sha256Schema,
        },
        closed,
      ),
      { minItems: 1, maxItems: 64 },
    ),
  },
  closed,
);
type Manifest = Static<typeof manifestSchema>;

/**
 * Writes installed models into one file, for machines without a network.
 * @param output the new file; the caller publishes it and so replaces an existing file of that name
 * @throws {ModelError} when a model changed since its installation, or disk space is insufficient
 */
export async function writeBundle(
  models: readonly InstalledModel[],
  output: NewFile,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const manifest: Manifest = {
    format: "transcribe-models",
    version: 1,
    models: models.map(({ id, sizeBytes, sha256 }) => ({ id, sizeBytes, sha256 })),
  };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  const total = archiveBytes([text.length, ...models.map(({ sizeBytes }) => sizeBytes)]);
  // Uses the descriptor, because this process may have lost the right to access the directory.
  await requireSpace(`/proc/self/fd/${output.descriptor}`, total);
  output.write(tar.header({ name: manifestName, sizeBytes: text.length }));
  output.write(text);
  output.write(Buffer.alloc(tar.padding(text.length)));
  let done = 0;
  for (const model of models) {
    await append(output, model, (bytes) => onProgress(done + bytes, total));
    done += model.sizeBytes;
  }
  output.write(Buffer.alloc(2 * tar.BLOCK_BYTES));
}

async function append(output: NewFile, model: InstalledModel, onProgress: (bytes: number) => void): Promise<void> {
  const meter = new DigestMeter();
  let done = 0;
  output.write(tar.header({ name: fileOf(model.id), sizeBytes: model.sizeBytes }));
  for await (const chunk of createReadStream(model.path, { highWaterMark: 1 << 20 })) {
    meter.update(chunk);
    done += chunk.length;
    if (done > model.sizeBytes) break;
    output.write(chunk);
    onProgress(done);
  }
  if (meter.finish().sha256 !== model.sha256) {
    throw new ModelError(`${model.id} is damaged; repair it with: transcribe models pull ${model.id}`);
  }
  output.write(Buffer.alloc(tar.padding(model.sizeBytes)));
}

interface UnpackedModel {
  readonly id: string;
  readonly file: string;
  readonly digests: FileDigests;
}

/**
 * Unpacks a bundle's models into a folder and checks the SHA-256 of each. The archive's layout and headers must be
 * exactly those that its manifest implies. This excludes unsafe paths, wrong sizes and files other than models.
 * @throws {ModelError} for any other archive; the caller removes the files unpacked until then
 */
export async function readBundle(
  path: string,
  folder: string,
  onProgress: (done: number, total: number) => void,
): Promise<UnpackedModel[]> {
  await using archive = await open(path, "r");
  const { manifest, bytes } = readManifest(archive);
  const { size } = await archive.stat();
  const expected = archiveBytes([bytes, ...manifest.models.map(({ sizeBytes }) => sizeBytes)]);
  if (size !== expected) throw broken(`it has ${size} bytes instead of ${expected}`);
  await requireSpace(folder, expected);

  const unpacked: UnpackedModel[] = [];
  let offset = tar.BLOCK_BYTES + bytes + tar.padding(bytes);
  for (const { id, sizeBytes, sha256 } of manifest.models) {
    requireHeader(archive, offset, fileOf(id), sizeBytes);
    offset += tar.BLOCK_BYTES;
    const file = join(folder, fileOf(id));
    const digests = await extract(path, { offset, sizeBytes }, file, (done) => onProgress(offset + done, size));
    if (digests.sha256 !== sha256)
      throw broken(`${id} does not have the SHA-256 of its manifest; copy the bundle again`);
    unpacked.push({ id, file, digests });
    offset += sizeBytes + tar.padding(sizeBytes);
  }
  return unpacked;
}

function readManifest(archive: FileHandle): { manifest: Manifest; bytes: number } {
  const header = readAt(archive.fd, 0, tar.BLOCK_BYTES);
  const bytes = Number.parseInt(header.toString("ascii", 124, 135), 8);
  if (!(bytes > 0 && bytes <= MAX_MANIFEST_BYTES)) throw broken(`it does not begin with ${manifestName}`);
  requireHeader(archive, 0, manifestName, bytes);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readAt(archive.fd, tar.BLOCK_BYTES, bytes).toString("utf8"));
  } catch {
    throw broken("its manifest is not JSON");
  }
  if (!Value.Check(manifestSchema, manifest))
    throw broken("its manifest has another format; a newer version may have written it");
  const ids = manifest.models.map(({ id }) => id);
  if (new Set(ids).size !== ids.length) throw broken("it contains a model twice");
  return { manifest, bytes };
}

/** Requires that the header equals, byte for byte, the header that `writeBundle` writes for this file. */
function requireHeader(archive: FileHandle, offset: number, name: string, sizeBytes: number): void {
  const expected = tar.header({ name, sizeBytes });
  if (!readAt(archive.fd, offset, tar.BLOCK_BYTES).equals(expected))
    throw broken(`${name} is not at the position that its manifest implies`);
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
  for await (const chunk of createReadStream(path, { start: offset, end, highWaterMark: 1 << 20 })) {
    meter.update(chunk);
    await output.appendFile(chunk);
    done += chunk.length;
    onProgress(done);
  }
  return meter.finish();
}

function broken(why: string): ModelError {
  return new ModelError(`this is not a bundle of models, or it is damaged: ${why}`);
}

function fileOf(id: string): string {
  return `${id}.bin`;
}

/** Returns the size of an archive of files of these sizes, including the end marker. */
function archiveBytes(sizes: readonly number[]): number {
  const files = sizes.reduce((total, size) => total + tar.BLOCK_BYTES + size + tar.padding(size), 0);
  return files + 2 * tar.BLOCK_BYTES;
}
