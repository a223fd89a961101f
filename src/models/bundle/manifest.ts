import { type Static, Type } from "@sinclair/typebox";
import { TAR_BLOCK_BYTES, TAR_MAX_FILE_BYTES, tarPadding } from "../../storage/index.ts";
import { modelIdSchema } from "../catalogue.ts";

/**
 * Name of a bundle's first file. A bundle is a tar archive of regular files: `manifest.json`, then the models that the
 * manifest lists, in its order, as `ID.bin`. Nothing is compressed, so the manifest determines the size of the archive.
 * `tar tf` lists the contents.
 */
export const manifestName = "manifest.json";
export const MAX_MANIFEST_BYTES = 64 * 1024;

const closed = { additionalProperties: false };

export const manifestSchema = Type.Object(
  {
    format: Type.Literal("transcribe-models"),
    version: Type.Literal(1),
    models: Type.Array(
      Type.Object(
        {
          id: modelIdSchema,
          sizeBytes: Type.Integer({ minimum: 1, maximum: TAR_MAX_FILE_BYTES }),
          sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
        },
        closed,
      ),
      { minItems: 1, maxItems: 64 },
    ),
  },
  closed,
);
export type Manifest = Static<typeof manifestSchema>;

export function fileOf(id: string): string {
  return `${id}.bin`;
}

/** Returns the size of an archive of files of these sizes, including the end marker. */
export function archiveBytes(sizes: readonly number[]): number {
  const files = sizes.reduce((total, size) => total + TAR_BLOCK_BYTES + size + tarPadding(size), 0);
  return files + 2 * TAR_BLOCK_BYTES;
}
