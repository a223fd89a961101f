import { describe, expect, test } from "bun:test";
import { copyFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../../harness/temporary-directory.ts";
import { loadGgml } from "../../../../src/runtimes/index.ts";
import { openModel } from "../../../../src/speech/recognizer/whisper/index.ts";
import { readSizes } from "../../../../src/speech/recognizer/whisper/model-file/index.ts";
import { alignmentHeads, modelType } from "../../../../src/speech/recognizer/whisper/model-header.ts";
import { basePath, canTranscribe, nativeDirectory } from "../../../support/whisper.ts";
import { withFile } from "../refusal.ts";

const open = (path: string) => openModel(loadGgml({ nativeDirectory }), path, false);

/** A model file's first bytes: vocabulary, encoder and decoder layers. */
function header(vocabulary: number, audioLayers: number, textLayers: number): Uint8Array {
  const numbers = [0x67676d6c, vocabulary, 1500, 512, 8, audioLayers, 448, 512, 8, textLayers, 80, 1];
  return new Uint8Array(Int32Array.from(numbers).buffer);
}

describe("a model's header", () => {
  test.each([
    ["tiny", 51865, 4, 4, 4],
    ["base", 51865, 6, 6, 6],
    ["base.en", 51864, 6, 6, 5],
    ["medium", 51865, 24, 24, 10],
    ["large-v2", 51865, 32, 32, 12],
    ["large-v3", 51866, 32, 32, 13],
    ["large-v3-turbo", 51866, 32, 4, 14],
    ["custom", 51866, 32, 2, 1],
    ["custom", 51865, 12, 4, 1],
  ])("identifies the type %s", (type, vocabulary, audioLayers, textLayers, heads) => {
    const sizes = withFile(header(vocabulary, audioLayers, textLayers), readSizes);
    expect(modelType(sizes)).toBe(type);
    expect(alignmentHeads(sizes).alignmentHeads).toBe(heads);
  });
});

describe.skipIf(!canTranscribe("model files"))("opening a model", () => {
  test.each([
    ["an empty file", new Uint8Array(0)],
    ["text", new TextEncoder().encode("not a model, but long enough to hold a header of one")],
  ])("refuses %s with advice", (_, content) => {
    expect(() => withFile(content, open)).toThrow("transcribe models pull");
  });

  test("refuses a truncated file with advice before native code opens it", () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "model.bin");
    copyFileSync(basePath, path);
    truncateSync(path, 50_000_000);
    expect(() => open(path)).toThrow(/damaged or not a whisper model.* bytes are missing: .*transcribe models pull/);
  });

  test("refuses a missing file by its name", () => {
    expect(() => open("/nowhere/model.bin")).toThrow("/nowhere/model.bin");
  });
});

describe.skipIf(!canTranscribe("loading the addon"))("the native addon", () => {
  test("is loaded once and with one set of options per process", () => {
    const runtime = loadGgml({ nativeDirectory });
    expect(loadGgml({ nativeDirectory })).toBe(runtime);
    expect(() => loadGgml({ nativeDirectory, cpuLibrary: "libggml-cpu-x64.so" })).toThrow("other options");
    expect(runtime.addon.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(runtime.cpuLibrary).toMatch(/^libggml-cpu-.+\.so$/);
    expect(runtime.devices().some((device) => device.kind === "cpu")).toBe(true);
  });
});
