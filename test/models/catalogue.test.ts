import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { digestFile, findModel, readCatalogue } from "../../src/models/index.ts";

const models = resolve(import.meta.dir, "../../models");
const sha256 = "a".repeat(64);
const good = {
  id: "m",
  kind: "speech",
  file: "m.bin",
  bytes: 1,
  sha256,
  licence: "MIT",
  sources: [{ type: "folder" }],
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "transcribe-catalogue-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(...entries: unknown[]) {
  const path = join(folder, "catalog.json");
  await writeFile(path, JSON.stringify({ models: entries }));
  return readCatalogue(path);
}

describe("the product's catalogue", () => {
  test("has a speech, a segmentation and an embedding model", () => {
    const kinds = readCatalogue(join(models, "catalog.json")).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(["embedding", "segmentation", "speech"]);
  });

  test("has the very files that the repository carries", async () => {
    for (const entry of readCatalogue(join(models, "catalog.json"))) {
      const path = join(models, entry.file);
      const inRepository = entry.sources.some(({ type }) => type === "repository");
      expect(existsSync(path)).toBe(inRepository);
      if (inRepository) expect(await digestFile(path, "sha256")).toBe(entry.sha256);
    }
  });
});

describe("a catalogue", () => {
  test("is read as it stands", async () => {
    const other = { ...good, id: "n" };
    expect((await read(good, other)).map(({ id }) => id)).toEqual(["m", "n"]);
    expect(findModel(await read(good, other), "n").id).toBe("n");
  });

  test("says which ids it has when asked for another", async () => {
    const entries = await read(good);
    expect(() => findModel(entries, "x")).toThrow("there is no model x; known are m");
  });

  const download = { type: "download", url: "https://example.org/m.bin", sha1: "b".repeat(40) };
  test.each([
    ["an id twice", [good, good], /model m twice/],
    ["a file outside its folder", [{ ...good, file: "../m.bin" }], /file/],
    ["no digest", [{ ...good, sha256: undefined }], /sha256/],
    ["a source without a digest", [{ ...good, sources: [{ ...download, sha1: undefined }] }], /sources/],
    ["a download without encryption", [{ ...good, sources: [{ ...download, url: "http://example.org" }] }], /sources/],
    ["no source", [{ ...good, sources: [] }], /sources/],
    ["an unknown key", [{ ...good, colour: "red" }], /colour/],
  ])("is refused with %s", async (_, entries, message) => {
    await expect(read(...entries)).rejects.toThrow(message);
  });
});
