import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { importModels, LibraryError } from "../../src/models/index.ts";
import { tarHeader, tarPadding } from "../../src/storage/index.ts";
import { bundleAt, hash, importOptions, OWN, SMALL, TestLibrary } from "./support.ts";

// Seconds on a quiet machine, more on a busy one.
setDefaultTimeout(60_000);

/** A bundle of two models, one of the catalogue and one of the user's own. */
async function bundleOfTwo(made: TestLibrary): Promise<string> {
  await importModels(made.file("small.bin", SMALL), importOptions(made));
  await importModels(made.file("own.bin", OWN), importOptions(made));
  const path = join(made.path, "bundle.tar");
  await bundleAt(made.library.list(), path);
  return path;
}

describe("a bundle", () => {
  test("brings models to another library as they were, and the catalogue's as such", async () => {
    using here = new TestLibrary();
    using there = new TestLibrary();
    const path = await bundleOfTwo(here);
    const progress: number[][] = [];
    const imported = await importModels(
      path,
      importOptions(there, { onProgress: (_, ...at) => void progress.push(at) }),
    );
    expect(imported.map(({ id, inCatalogue, from }) => [id, inCatalogue, from])).toEqual([
      ["own", false, "bundle.tar"],
      ["whisper-small", true, "bundle.tar"],
    ]);
    expect(await Bun.file(imported[0]?.path ?? "").bytes()).toEqual(OWN);
    expect(await Bun.file(imported[1]?.path ?? "").bytes()).toEqual(SMALL);
    expect(progress.length).toBeGreaterThan(1);
    // and once more, which changes nothing
    await importModels(path, importOptions(there));
    expect(there.files()).toHaveLength(4);
  });

  test("is an archive that tar reads, and the same for the same models", async () => {
    using made = new TestLibrary();
    const path = await bundleOfTwo(made);
    const bytes = readFileSync(path);
    const listed = Bun.spawnSync(["tar", "tf", path]);
    expect(listed.stdout.toString()).toBe("manifest.json\nown.bin\nwhisper-small.bin\n");
    await bundleAt(made.library.list(), path);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("is not written of a model that is damaged, and what had its name stays", async () => {
    using made = new TestLibrary();
    const path = await bundleOfTwo(made);
    const before = readFileSync(path);
    const [model] = made.library.list();
    writeFileSync(model?.path ?? "", new Uint8Array(OWN.length));
    await expect(bundleAt(made.library.list(), path)).rejects.toThrow("own is damaged");
    expect(readFileSync(path).equals(before)).toBe(true);
    expect([...new Bun.Glob("*.part*").scanSync({ cwd: made.path })]).toEqual([]);
  });
});

interface Entry {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Changes the header after it was made; its sum is made right again. */
  readonly change?: (header: Buffer) => void;
}

function archive(...entries: readonly Entry[]): Uint8Array {
  const pieces = entries.flatMap(({ name, bytes, change }) => {
    const header = Buffer.from(tarHeader({ name, sizeBytes: bytes.length }));
    if (change !== undefined) {
      change(header);
      header.write("        ", 148, "ascii");
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
    }
    return [header, bytes, Buffer.alloc(tarPadding(bytes.length))];
  });
  return Buffer.concat([...pieces, Buffer.alloc(1024)]);
}

const manifest = (...models: readonly object[]): Entry => ({
  name: "manifest.json",
  bytes: Buffer.from(JSON.stringify({ format: "transcribe-models", version: 1, models })),
});
const own = { id: "own", sizeBytes: OWN.length, sha256: hash("sha256", OWN) };
const file = (name: string, bytes: Uint8Array = OWN, change?: (header: Buffer) => void): Entry => ({
  ...{ name, bytes },
  ...(change && { change }),
});
const good = archive(manifest(own), file("own.bin"));
const huge = { ...own, sizeBytes: 8_000_000_000 };

describe("a bundle from a stranger is refused, and leaves nothing, that", () => {
  test.each<[string, Uint8Array]>([
    ["is cut off", good.subarray(0, good.length - 600)],
    ["goes on after its end", Buffer.concat([good, Buffer.alloc(512)])],
    ["has no manifest", archive(file("own.bin"))],
    ["has its manifest last", archive(file("own.bin"), manifest(own))],
    ["has a manifest that is no JSON", archive(file("manifest.json", Buffer.from("{"), undefined), file("own.bin"))],
    ["has a manifest of another format", archive(file("manifest.json", Buffer.from('{"format":"zip"}')))],
    [
      "has a manifest that claims to be huge",
      archive({ ...manifest(own), change: (h) => h.write("77777777777", 124) }),
    ],
    ["names no model", archive(manifest())],
    ["names a model twice", archive(manifest(own, own), file("own.bin"), file("own.bin"))],
    ["leads out of its folder by an id", archive(manifest({ ...own, id: "../../own" }), file("../../own.bin"))],
    ["leads out of its folder by an absolute id", archive(manifest({ ...own, id: "/tmp/own" }), file("/tmp/own.bin"))],
    ["leads out of its folder by a name", archive(manifest(own), file("../own.bin"))],
    [
      "has a link for a file",
      archive(
        manifest(own),
        file("own.bin", OWN, (header) => header.write("2", 156)),
      ),
    ],
    [
      "has a directory for a file",
      archive(
        manifest(own),
        file("own.bin", OWN, (header) => header.write("5", 156)),
      ),
    ],
    [
      "lies about a size in a header",
      archive(
        manifest(own),
        file("own.bin", OWN, (h) => h.write("00000000007", 124)),
      ),
    ],
    ["lies about a size in its manifest", archive(manifest({ ...own, sizeBytes: 3 }), file("own.bin"))],
    ["claims far more than it has", archive(manifest(huge), file("own.bin"))],
    ["has another file than its manifest says", archive(manifest(own), file("other.bin"))],
    ["has a file more than its manifest says", archive(manifest(own), file("own.bin"), file("more.bin"))],
    ["has other bytes than its manifest says", archive(manifest(own), file("own.bin", new Uint8Array(OWN.length)))],
    [
      "calls its own model by a name of the catalogue",
      archive(manifest({ ...own, id: "whisper-small" }), file("whisper-small.bin")),
    ],
    [
      "calls a model of the catalogue by another name",
      archive(
        manifest({ id: "small", sizeBytes: SMALL.length, sha256: hash("sha256", SMALL) }),
        file("small.bin", SMALL),
      ),
    ],
  ])("%s", async (_, bytes) => {
    using made = new TestLibrary();
    const path = made.file("bundle.tar", bytes);
    await expect(importModels(path, importOptions(made))).rejects.toThrow(LibraryError);
    expect(made.files()).toEqual([]);
    expect(existsSync(join(made.path, "own.bin"))).toBe(false);
  });

  test("has one good and one bad model: neither counts", async () => {
    using made = new TestLibrary();
    const bad = { ...own, id: "bad" };
    const bytes = archive(manifest(own, bad), file("own.bin"), file("bad.bin", new Uint8Array(OWN.length)));
    await expect(importModels(made.file("bundle.tar", bytes), importOptions(made))).rejects.toThrow(
      "bad does not have the SHA-256",
    );
    expect(made.files()).toEqual([]);
  });

  test("would replace a model of that name", async () => {
    using made = new TestLibrary();
    const [before] = await importModels(made.file("own.bin", SMALL.subarray(1)), importOptions(made));
    await expect(importModels(made.file("bundle.tar", good), importOptions(made))).rejects.toThrow(
      "another model is installed as own",
    );
    expect(made.library.find("own")).toEqual(before ?? null);
  });

  test("holds what the engine can't load", async () => {
    using made = new TestLibrary();
    const inspect = () => {
      throw new Error("not a whisper model");
    };
    const attempt = importModels(made.file("bundle.tar", good), importOptions(made, { inspect }));
    await expect(attempt).rejects.toThrow("not a whisper model. import takes a whisper model in ggml form");
    expect(made.files()).toEqual([]);
  });
});

test("a good bundle made by hand is taken, so the refusals are for their reasons", async () => {
  using made = new TestLibrary();
  expect(await importModels(made.file("bundle.tar", good), importOptions(made))).toMatchObject([{ id: "own" }]);
});
