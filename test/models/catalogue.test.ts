import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { downloadOf, productCatalogue, publishedSize } from "../../src/models/catalogue.ts";
import { findModel, readCatalogue } from "../../src/models/index.ts";
import { digestFile } from "../../src/program/index.ts";
import { root } from "../support/checkout.ts";

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
  test("is what the program carries, and has speech, segmentation and embedding models", () => {
    const catalogue = productCatalogue();
    expect(catalogue).toEqual(readCatalogue(join(models, "catalog.json")));
    expect(new Set(catalogue.map(({ kind }) => kind))).toEqual(new Set(["embedding", "segmentation", "speech"]));
  });

  test("has the official files with the digests and sizes that whisper.cpp publishes, and no other", async () => {
    const table = await Bun.file(join(root, "node_modules/nodejs-whisper/cpp/whisper.cpp/models/README.md")).text();
    const rows = [...table.matchAll(/^\| ([\w.-]+) +\| ([\d.]+) ([MG])iB +\| `([0-9a-f]{40})` \|$/gm)];
    const published = rows.map(([, name, size, unit, sha1]) => ({
      ...{ id: `whisper-${name}`, file: `ggml-${name}.bin`, sha1 },
      bytes: Math.round(Number(size) * 1024 ** (unit === "G" ? 3 : 2)),
    }));
    // The speakers' turns that small.en-tdrz marks are found otherwise here.
    const wanted = published.filter(({ id }) => !id.endsWith("-tdrz"));
    expect(wanted.length).toBeGreaterThan(14);
    const ours = productCatalogue().flatMap((entry) => {
      const source = downloadOf(entry);
      if (source === undefined) return [];
      expect(source.url).toEndWith(`/${entry.file}`);
      const bytes = wanted.find(({ id }) => id === entry.id)?.bytes ?? 0;
      expect(Math.abs(publishedSize(entry).bytes - bytes)).toBeLessThan(0.01 * bytes);
      return [{ id: entry.id, file: entry.file, sha1: source.sha1 }];
    });
    expect(ours).toEqual(wanted.map(({ id, file, sha1 }) => ({ id, file, sha1: sha1 ?? "" })));
  });

  test("has the very files that the repository carries", async () => {
    for (const entry of readCatalogue(join(models, "catalog.json"))) {
      const path = join(models, entry.file);
      const inRepository = entry.sources.some(({ type }) => type === "repository");
      expect(existsSync(path)).toBe(inRepository);
      if (inRepository) expect(await digestFile(path, "sha256")).toBe(entry.sha256 ?? "");
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
    ["no digest", [{ ...good, sha256: undefined }], /no digest of the model m/],
    ["no size", [{ ...good, bytes: undefined }], /no size of the model m/],
    ["a source without a digest", [{ ...good, sources: [{ ...download, sha1: undefined }] }], /sources/],
    ["a download without encryption", [{ ...good, sources: [{ ...download, url: "http://example.org" }] }], /sources/],
    ["no source", [{ ...good, sources: [] }], /sources/],
    ["an unknown key", [{ ...good, colour: "red" }], /colour/],
  ])("is refused with %s", async (_, entries, message) => {
    await expect(read(...entries)).rejects.toThrow(message);
  });
});
