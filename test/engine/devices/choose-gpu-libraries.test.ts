import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseGpuLibraries } from "../../../src/engine/devices/index.ts";
import { available, root } from "../../support/checkout.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { basePath, canTranscribe, nativeDirectory } from "../whisper/support.ts";

const command = [process.execPath, join(root, "src", "main.ts"), "__selftest"];
const cpuLibrary = "libggml-cpu-x64.so";

/** The real libraries, and a GPU backend made of a source. */
function directoryWith(path: string, gpuLibrary: string, source: string): string {
  const directory = join(path, "native");
  mkdirSync(directory);
  for (const name of readdirSync(nativeDirectory)) symlinkSync(join(nativeDirectory, name), join(directory, name));
  writeFileSync(join(path, "gpu.c"), source);
  const compiled = Bun.spawnSync(["cc", "-shared", "-fPIC", "-o", join(directory, gpuLibrary), join(path, "gpu.c")]);
  expect(compiled.exitCode).toBe(0);
  return directory;
}

const canRun = canTranscribe("choosing GPU backends") && available("choosing GPU backends", Bun.which("cc") ?? "cc");

describe.skipIf(!canRun)("of the GPU backends", () => {
  test("one that crashes when it is loaded is left out, with its reason", async () => {
    using directory = temporaryDirectory();
    const source = "int ggml_backend_score(void) { return 1; } void *ggml_backend_init(void) { __builtin_trap(); }";
    const native = directoryWith(directory.path, "libggml-vulkan.so", source);
    const choice = await chooseGpuLibraries({ command, nativeDirectory: native, cpuLibrary, whisperModel: basePath });
    expect(choice.gpuLibraries).toEqual([]);
    expect(choice.leftOut).toEqual([{ library: "libggml-vulkan.so", reason: expect.stringMatching(/SIGILL|SIGTRAP/) }]);
  }, 30_000);

  test("one without a GPU that it could use is left out, though nothing crashes", async () => {
    using directory = temporaryDirectory();
    const source = "void *ggml_backend_init(void) { return 0; }";
    const native = directoryWith(directory.path, "libggml-cuda.so", source);
    const choice = await chooseGpuLibraries({ command, nativeDirectory: native, cpuLibrary, whisperModel: basePath });
    expect(choice.gpuLibraries).toEqual([]);
    expect(choice.leftOut).toEqual([{ library: "libggml-cuda.so", reason: expect.stringContaining("cannot load") }]);
  }, 30_000);

  test("where this build has none, no process is started", async () => {
    const whisperModel = basePath;
    const choice = await chooseGpuLibraries({ command: ["/no/program"], nativeDirectory, cpuLibrary, whisperModel });
    expect(choice).toEqual({ gpuLibraries: [], leftOut: [] });
  });
});
