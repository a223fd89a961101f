import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelEntry, ModelError } from "../../src/models/index.ts";
import { readModelLanguages, validateModelFile } from "../../src/speech/index.ts";
import { OWN, SMALL, TestLibrary } from "../support/models.ts";
import { fakeVocabulary, fakeWhisper, SIZES, serialise } from "./convert/ctranslate2-file.ts";

// It takes seconds on an idle machine, more on a busy one.
setDefaultTimeout(60_000);

describe("a model file that is imported", () => {
  const unknown: ModelEntry[] = [];

  test.each([
    ["ggml-Large V3 (mine).bin", "whisper-large-v3-mine-"],
    ["GGML-small-q5_1.BIN", "whisper-small-q5_1"],
    ["...bin", "model"],
    ["äöü.bin", "model"],
  ])("%s gets the id %s unless a name is given", async (name, id) => {
    using made = new TestLibrary();
    const path = made.file(name, OWN);
    expect(await made.import(path, { catalogue: unknown })).toMatchObject([{ id, inCatalogue: false }]);
    expect(await made.import(path, { catalogue: unknown, name: "mine" })).toMatchObject([{ id: "mine" }]);
  });

  test("gets the id of the catalogue when its digest is published, whatever its file name", async () => {
    using made = new TestLibrary();
    const path = made.file("thing.bin", SMALL);
    expect(await made.import(path, { name: "mine" })).toMatchObject([{ id: "whisper-small", inCatalogue: true }]);
    expect(readFileSync(path)).toEqual(Buffer.from(SMALL));
  });

  test("is refused when its file name is an id of the catalogue, but its digest differs", async () => {
    using made = new TestLibrary();
    const attempt = made.import(made.file("ggml-small.bin", OWN));
    await expect(attempt).rejects.toThrow("this is not whisper-small as it was published");
    expect(made.files()).toEqual([]);
  });

  test("is refused when it does not exist or is neither a file nor a directory", async () => {
    using made = new TestLibrary();
    await expect(made.import(join(made.path, "none"))).rejects.toThrow("there is no file");
    await expect(made.import("/dev/null")).rejects.toThrow("neither a file nor a directory");
    symlinkSync(join(made.path, "none"), join(made.path, "link"));
    await expect(made.import(join(made.path, "link"))).rejects.toThrow("there is no file");
    await expect(made.import(made.path)).rejects.toThrow("has no model.bin");
  });

  test("is not installed once its file was removed, and can be imported again", async () => {
    using made = new TestLibrary();
    const path = made.file("own.bin", OWN);
    const [model] = await made.import(path);
    rmSync(model?.path ?? "");
    expect([made.library.find("own"), made.library.list()]).toEqual([null, []]);
    await made.import(path);
    expect(await Bun.file(made.library.find("own")?.path ?? "").bytes()).toEqual(OWN);
  });
});

describe("a faster-whisper directory", () => {
  const inspect = (path: string) => void validateModelFile(path);
  /** The smallest sizes that native code loads. */
  const loadable = { audioContext: 1500, textContext: 448, width: 64, heads: 1 };

  function directory(made: TestLibrary, model: Uint8Array, vocabulary: string | null): string {
    const path = join(made.path, "Faster Whisper tiny.en");
    mkdirSync(path);
    writeFileSync(join(path, "model.bin"), model);
    if (vocabulary !== null) writeFileSync(join(path, "vocabulary.json"), vocabulary);
    return path;
  }
  const words = JSON.stringify(fakeVocabulary(SIZES.vocabulary, 50_256));

  test.each(["float16", "float32", "int8"] as const)(
    "with %s weights is converted and gets its id from its name",
    async (type) => {
      using made = new TestLibrary();
      const path = directory(made, serialise(fakeWhisper(type, loadable)), words);
      const [model] = await made.import(path, { inspect });
      expect(model).toMatchObject({ id: "faster-whisper-tiny.en", inCatalogue: false });
      expect(model?.from).toBe("Faster Whisper tiny.en, converted");
      expect(readModelLanguages(model?.path ?? "").map(({ code }) => code)).toEqual(["en"]);
    },
  );

  test.each([
    ["is truncated", serialise(fakeWhisper("float16")).slice(0, 9_000), words],
    ["has no vocabulary", serialise(fakeWhisper("float16")), null],
    ["has another vocabulary", serialise(fakeWhisper("float16")), '["a"]'],
    ["is of another kind", new Uint8Array(3_000), words],
  ])("that %s is refused and leaves nothing", async (_, model, vocabulary) => {
    using made = new TestLibrary();
    const path = directory(made, model, vocabulary);
    await expect(made.import(path, { inspect })).rejects.toThrow(ModelError);
    expect(made.files()).toEqual([]);
  });
});
