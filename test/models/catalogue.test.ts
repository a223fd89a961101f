import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { root } from "../../harness/checkout.ts";
import { whisperSource } from "../../native/steps/source.ts";
import { checkCatalogue, downloadOf, findModel, productCatalogue, publishedSize } from "../../src/models/catalogue.ts";
import { digestFile } from "../../src/program/index.ts";

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

const read = (...entries: unknown[]) => checkCatalogue(JSON.parse(JSON.stringify({ models: entries })), "it");

describe("the product's catalogue", () => {
  test("has speech, segmentation and embedding models", () => {
    expect(new Set(productCatalogue().map(({ kind }) => kind))).toEqual(
      new Set(["embedding", "segmentation", "speech"]),
    );
  });

  test("has exactly the files, digests and sizes that whisper.cpp publishes", async () => {
    const table = await Bun.file(join(whisperSource(root), "models", "README.md")).text();
    const rows = [...table.matchAll(/^\| ([\w.-]+) +\| ([\d.]+) ([MG])iB +\| `([0-9a-f]{40})` \|$/gm)];
    const published = rows.map(([, name, size, unit, sha1]) => ({
      ...{ id: `whisper-${name}`, file: `ggml-${name}.bin`, sha1 },
      bytes: Math.round(Number(size) * 1024 ** (unit === "G" ? 3 : 2)),
    }));
    // small.en-tdrz marks speaker turns, which this product finds by speaker diarization.
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

  test("has the digests of the files in the repository", async () => {
    for (const entry of productCatalogue()) {
      const path = join(models, entry.file);
      const inRepository = entry.sources.some(({ type }) => type === "repository");
      expect(existsSync(path)).toBe(inRepository);
      if (inRepository) expect(await digestFile(path, "sha256")).toBe(entry.sha256 ?? "");
    }
  });
});

describe("a catalogue", () => {
  test("keeps the order of its models, which are found by id", () => {
    const entries = read(good, { ...good, id: "n" });
    expect(entries.map(({ id }) => id)).toEqual(["m", "n"]);
    expect(findModel(entries, "n")?.id).toBe("n");
    expect(findModel(entries, "x")).toBeNull();
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
  ])("is refused with %s", (_, entries, message) => {
    expect(() => read(...entries)).toThrow(message);
  });
});
