import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tar } from "../../src/files/index.ts";
import { ModelError } from "../../src/models/index.ts";
import { bundleAt, hash, OWN, SMALL, TestLibrary } from "../support/models.ts";

// It takes seconds on an idle machine, more on a busy one.
setDefaultTimeout(60_000);

/** Writes a bundle of two models, of which only the first is in the catalogue. */
async function bundleOfTwo(made: TestLibrary): Promise<string> {
  await made.import(made.file("small.bin", SMALL));
  await made.import(made.file("own.bin", OWN));
  const path = join(made.path, "bundle.tar");
  await bundleAt(made.library.list(), path);
  return path;
}

describe("a bundle", () => {
  test("installs its models in another library with the same bytes and ids", async () => {
    using here = new TestLibrary();
    using there = new TestLibrary();
    const path = await bundleOfTwo(here);
    const progress: number[][] = [];
    const imported = await there.import(path, { onProgress: (_, ...at) => void progress.push(at) });
    expect(imported.map(({ id, inCatalogue, from }) => [id, inCatalogue, from])).toEqual([
      ["own", false, "bundle.tar"],
      ["whisper-small", true, "bundle.tar"],
    ]);
    expect(await Bun.file(imported[0]?.path ?? "").bytes()).toEqual(OWN);
    expect(await Bun.file(imported[1]?.path ?? "").bytes()).toEqual(SMALL);
    expect(progress.length).toBeGreaterThan(1);
    // A second import changes nothing.
    await there.import(path);
    expect(there.files()).toHaveLength(4);
  });

  test("is a tar archive, and has the same bytes for the same models", async () => {
    using made = new TestLibrary();
    const path = await bundleOfTwo(made);
    const bytes = readFileSync(path);
    const listed = Bun.spawnSync(["tar", "tf", path]);
    expect(listed.stdout.toString()).toBe("manifest.json\nown.bin\nwhisper-small.bin\n");
    await bundleAt(made.library.list(), path);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("is not written when a model is damaged, and an existing file of its name stays", async () => {
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
  /** Changes the header; its checksum is then corrected. */
  readonly change?: (header: Buffer) => void;
}

function archive(...entries: readonly Entry[]): Uint8Array {
  const pieces = entries.flatMap(({ name, bytes, change }) => {
    const header = Buffer.from(tar.header({ name, sizeBytes: bytes.length }));
    if (change !== undefined) {
      change(header);
      header.write("        ", 148, "ascii");
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "ascii");
    }
    return [header, bytes, Buffer.alloc(tar.padding(bytes.length))];
  });
  return Buffer.concat([...pieces, Buffer.alloc(1024)]);
}

const manifest = (...models: readonly object[]): Entry => ({
  name: "manifest.json",
  bytes: Buffer.from(JSON.stringify({ format: "transcribe-models", version: 1, models })),
});
const own = { id: "own", sizeBytes: OWN.length, sha256: hash("sha256", OWN) };
const file = (name: string, bytes: Uint8Array = OWN): Entry => ({ name, bytes });
/** A bundle whose model has a changed header. */
const changed = (change: (header: Buffer) => void) => archive(manifest(own), { ...file("own.bin"), change });
const good = archive(manifest(own), file("own.bin"));
const huge = { ...own, sizeBytes: 8_000_000_000 };

describe("a hostile bundle is refused and leaves nothing when it", () => {
  test.each<[string, Uint8Array]>([
    ["is truncated", good.subarray(0, good.length - 600)],
    ["has bytes after its end", Buffer.concat([good, Buffer.alloc(512)])],
    ["has no manifest", archive(file("own.bin"))],
    ["has its manifest last", archive(file("own.bin"), manifest(own))],
    ["has a manifest that is not JSON", archive(file("manifest.json", Buffer.from("{")), file("own.bin"))],
    ["has a manifest of another format", archive(file("manifest.json", Buffer.from('{"format":"zip"}')))],
    [
      "has a manifest that claims to be huge",
      archive({ ...manifest(own), change: (h) => h.write("77777777777", 124) }),
    ],
    ["names no model", archive(manifest())],
    ["names a model twice", archive(manifest(own, own), file("own.bin"), file("own.bin"))],
    ["escapes its folder by a relative id", archive(manifest({ ...own, id: "../../own" }), file("../../own.bin"))],
    ["escapes its folder by an absolute id", archive(manifest({ ...own, id: "/tmp/own" }), file("/tmp/own.bin"))],
    ["escapes its folder by a file name", archive(manifest(own), file("../own.bin"))],
    ["has a link instead of a file", changed((header) => header.write("2", 156))],
    ["has a directory instead of a file", changed((header) => header.write("5", 156))],
    ["has a wrong size in a header", changed((header) => header.write("00000000007", 124))],
    ["has a wrong size in its manifest", archive(manifest({ ...own, sizeBytes: 3 }), file("own.bin"))],
    ["claims a size far beyond its own", archive(manifest(huge), file("own.bin"))],
    ["has a file that is not in its manifest", archive(manifest(own), file("other.bin"))],
    ["has an additional file", archive(manifest(own), file("own.bin"), file("more.bin"))],
    ["has other bytes than its manifest states", archive(manifest(own), file("own.bin", new Uint8Array(OWN.length)))],
    [
      "gives an unknown model an id of the catalogue",
      archive(manifest({ ...own, id: "whisper-small" }), file("whisper-small.bin")),
    ],
    [
      "gives a model of the catalogue another id",
      archive(
        manifest({ id: "small", sizeBytes: SMALL.length, sha256: hash("sha256", SMALL) }),
        file("small.bin", SMALL),
      ),
    ],
  ])("%s", async (_, bytes) => {
    using made = new TestLibrary();
    const path = made.file("bundle.tar", bytes);
    await expect(made.import(path)).rejects.toThrow(ModelError);
    expect(made.files()).toEqual([]);
    expect(existsSync(join(made.path, "own.bin"))).toBe(false);
  });

  test("contains a valid and a damaged model", async () => {
    using made = new TestLibrary();
    const bad = { ...own, id: "bad" };
    const bytes = archive(manifest(own, bad), file("own.bin"), file("bad.bin", new Uint8Array(OWN.length)));
    await expect(made.import(made.file("bundle.tar", bytes))).rejects.toThrow("bad does not have the SHA-256");
    expect(made.files()).toEqual([]);
  });

  test("would replace another model with the same id", async () => {
    using made = new TestLibrary();
    const [before] = await made.import(made.file("own.bin", SMALL.subarray(1)));
    await expect(made.import(made.file("bundle.tar", good))).rejects.toThrow("another model is installed as own");
    expect(made.library.find("own")).toEqual(before ?? null);
  });

  test("contains a model that the engine can't load", async () => {
    using made = new TestLibrary();
    const inspect = () => {
      throw new Error("not a whisper model");
    };
    const attempt = made.import(made.file("bundle.tar", good), { inspect });
    await expect(attempt).rejects.toThrow(
      "not a whisper model. import accepts a Whisper or Parakeet model in ggml format",
    );
    expect(made.files()).toEqual([]);
  });
});

test("a valid bundle made by this test is imported", async () => {
  using made = new TestLibrary();
  expect(await made.import(made.file("bundle.tar", good))).toMatchObject([{ id: "own" }]);
});
