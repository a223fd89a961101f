import { join } from "node:path";
import { makeCacheEntry } from "../../../src/models/cache-entry.ts";
import { digestFile, type EmbeddedPart } from "../../../src/program/index.ts";
import type { PartSource } from "./parts.ts";

/** Of zstd. 19 makes the whole 4 % smaller in three minutes instead of six seconds (level 9, two cores). */
const level = 9;

/** Packs a part, or takes it from the cache, where it lies under the digest of what was packed. */
export async function packPart({ path, source, executable }: PartSource, cacheRoot: string): Promise<EmbeddedPart> {
  const sha256 = await digestFile(source, "sha256");
  const name = `${sha256}.zst`;
  const entry = join("packed", `${sha256}-${level}-${Bun.version}`);
  let packed = join(cacheRoot, entry, name);
  if (!(await Bun.file(packed).exists())) {
    const folder = await makeCacheEntry(cacheRoot, entry, async (directory) => {
      await Bun.write(join(directory, name), await Bun.zstdCompress(await Bun.file(source).bytes(), { level }));
    });
    packed = join(folder, name);
  }
  return { path, bytes: Bun.file(source).size, sha256, executable, packed };
}
