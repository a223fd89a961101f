import { createReadStream } from "node:fs";
import { type NewFile, TAR_BLOCK_BYTES, tarHeader, tarPadding } from "../../storage/index.ts";
import { DigestMeter } from "../digest.ts";
import { requireSpace } from "../disk-space.ts";
import type { InstalledModel } from "../library.ts";
import { LibraryError } from "../library-error.ts";
import { archiveBytes, fileOf, type Manifest, manifestName } from "./manifest.ts";

/**
 * Writes installed models into one file, for machines without a network.
 * @param output the new file; the caller publishes it and so replaces an existing file of that name
 * @throws {LibraryError} when a model changed since its installation, or disk space is insufficient
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
  output.write(tarHeader({ name: manifestName, sizeBytes: text.length }));
  output.write(text);
  output.write(Buffer.alloc(tarPadding(text.length)));
  let done = 0;
  for (const model of models) {
    await append(output, model, (bytes) => onProgress(done + bytes, total));
    done += model.sizeBytes;
  }
  output.write(Buffer.alloc(2 * TAR_BLOCK_BYTES));
}

async function append(output: NewFile, model: InstalledModel, onProgress: (bytes: number) => void): Promise<void> {
  const meter = new DigestMeter();
  let done = 0;
  output.write(tarHeader({ name: fileOf(model.id), sizeBytes: model.sizeBytes }));
  for await (const piece of createReadStream(model.path, { highWaterMark: 1 << 20 })) {
    meter.update(piece);
    done += piece.length;
    if (done > model.sizeBytes) break;
    output.write(piece);
    onProgress(done);
  }
  if (meter.finish().sha256 !== model.sha256) {
    throw new LibraryError(`${model.id} is damaged; mend it with: transcribe models pull ${model.id}`);
  }
  output.write(Buffer.alloc(tarPadding(model.sizeBytes)));
}
