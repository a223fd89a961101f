import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChooseGpuOptions, chooseGpuLibrary } from "../../../src/engine/devices/index.ts";
import { available, root } from "../../support/checkout.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { basePath, canTranscribe, nativeDirectory } from "../whisper/support.ts";

const cuda = "libggml-cuda.so";
const vulkan = "libggml-vulkan.so";

/** What a scripted self-test answers, by the library it is asked about; the CPU by the empty name. */
type Answers = Readonly<Record<string, string>>;
const heard = (seconds: number, ...words: string[]) => `echo '${JSON.stringify({ seconds, words })}'`;
const onCpu = { "": heard(2, "ask", "not") };

/** A machine whose self-tests answer so, and that writes down what is tried on it. */
function machine(path: string, answers: Answers, changes: Partial<ChooseGpuOptions> = {}) {
  const directory = join(path, "native");
  mkdirSync(directory, { recursive: true });
  for (const name of ["whisper.node", ...Object.keys(answers)])
    if (name !== "") writeFileSync(join(directory, name), name);
  const model = join(path, "model");
  writeFileSync(model, "weights");
  const tried = join(path, "tried");
  const cases = Object.entries(answers).map(([library, answer]) => `"${library}") ${answer};;`);
  // Arguments: the mode, directory, CPU variant, model, sample, and perhaps the GPU's library.
  const script = `echo "$6" >>'${tried}'; case "$6" in ${cases.join(" ")} esac`;
  const options: ChooseGpuOptions = {
    command: ["sh", "-c", script, "self-test"],
    nativeDirectory: directory,
    cpuLibrary: "libggml-cpu-x64.so",
    whisperModel: model,
    withSample: (use) => use(join(path, "sample.pcm")),
    mustBeFaster: true,
    candidates: () => true,
    withinReach: () => true,
    verdictsPath: join(path, "devices.json"),
    ...changes,
  };
  const triedLibraries = () => (existsSync(tried) ? readFileSync(tried, "utf8").split("\n").slice(0, -1) : []);
  return { options, triedLibraries };
}

describe("of the GPU backends", () => {
  const works = heard(1, "ask", "not");
  test.each<[string, Answers, Partial<ChooseGpuOptions>, string | null, RegExp[]]>([
    ["CUDA's comes first", { ...onCpu, [cuda]: works, [vulkan]: works }, {}, cuda, []],
    [
      "Vulkan's takes the place of one that crashes",
      { ...onCpu, [cuda]: "kill -ABRT $$", [vulkan]: works },
      {},
      vulkan,
      [/SIGABRT/],
    ],
    [
      "one that hears other words is left out",
      { ...onCpu, [vulkan]: heard(1, "ask", "now") },
      {},
      null,
      [/other words/],
    ],
    ["one that hears nothing is left out", { ...onCpu, [vulkan]: heard(1) }, {}, null, [/other words/]],
    [
      "one that is slower is left out",
      { ...onCpu, [vulkan]: heard(3, "ask", "not") },
      {},
      null,
      [/no faster than the CPU: 3.00 s against 2.00 s/],
    ],
    [
      "one that is slower is taken where it was asked for",
      { ...onCpu, [vulkan]: heard(3, "ask", "not") },
      { mustBeFaster: false },
      vulkan,
      [],
    ],
    [
      "where the CPU hears nothing, nothing is compared",
      { "": heard(2), [vulkan]: heard(1) },
      {},
      null,
      [/no words in the sample/],
    ],
    [
      "what is no candidate is not asked",
      { ...onCpu, [cuda]: works, [vulkan]: works },
      { candidates: (name) => name === vulkan },
      vulkan,
      [],
    ],
    ["what nobody can reach is not asked", { ...onCpu, [vulkan]: works }, { withinReach: () => false }, null, []],
  ])("%s", async (_, answers, changes, chosen, reasons) => {
    using directory = temporaryDirectory();
    const { options, triedLibraries } = machine(directory.path, answers, changes);
    const choice = await chooseGpuLibrary(options);
    expect(choice.gpuLibrary).toBe(chosen);
    expect(choice.leftOut.map(({ reason }) => reason)).toEqual(reasons.map((reason) => expect.stringMatching(reason)));

    // From then on no process is started for it.
    const before = triedLibraries();
    expect(await chooseGpuLibrary(options)).toEqual(choice);
    expect(triedLibraries()).toEqual(before);
  });

  test.each<[string, Partial<ChooseGpuOptions>, Answers, RegExp]>([
    ["the sample can't be had", { withSample: () => Promise.reject(new Error("no ffmpeg")) }, onCpu, /no ffmpeg/],
    ["a self-test says nonsense", {}, { ...onCpu, [vulkan]: "echo 7" }, /./],
  ])("where %s, the CPU does the work", async (_, changes, answers, reason) => {
    using directory = temporaryDirectory();
    const { options } = machine(directory.path, { [vulkan]: "exit 1", ...answers }, changes);
    const choice = await chooseGpuLibrary(options);
    expect(choice).toEqual({ gpuLibrary: null, leftOut: [{ library: vulkan, reason: expect.stringMatching(reason) }] });
  });

  test("an abort ends it", async () => {
    using directory = temporaryDirectory();
    const controller = new AbortController();
    const { options } = machine(directory.path, { ...onCpu, [vulkan]: "exec sleep 60" }, { signal: controller.signal });
    const choice = chooseGpuLibrary(options);
    setTimeout(() => controller.abort(new Error("closed")), 20);
    await expect(choice).rejects.toThrow("closed");
  });

  test("what failed by chance is tried again the next time", async () => {
    using directory = temporaryDirectory();
    const { options, triedLibraries } = machine(directory.path, {
      ...onCpu,
      [vulkan]: "echo 'out of memory' >&2; exit 1",
    });
    const choice = await chooseGpuLibrary(options);
    expect(choice).toEqual({ gpuLibrary: null, leftOut: [{ library: vulkan, reason: "out of memory" }] });
    await chooseGpuLibrary(options);
    expect(triedLibraries()).toEqual([vulkan, vulkan]);
  });

  test("a verdict holds for its library and its model alone, and not for one that may be slower", async () => {
    using directory = temporaryDirectory();
    const slow = { ...onCpu, [vulkan]: heard(3, "ask", "not") };
    const { options, triedLibraries } = machine(directory.path, slow);
    await chooseGpuLibrary(options);
    expect((await chooseGpuLibrary({ ...options, mustBeFaster: false })).gpuLibrary).toBe(vulkan);
    const tries = () => triedLibraries().filter((name) => name === vulkan).length;
    expect(tries()).toBe(2);
    writeFileSync(join(options.nativeDirectory, vulkan), "another build");
    await chooseGpuLibrary(options);
    expect(tries()).toBe(3);
    writeFileSync(options.whisperModel, "other weights");
    await chooseGpuLibrary(options);
    expect(tries()).toBe(4);
  });
});

/** The real libraries, and a GPU backend made of a source. */
function directoryWith(path: string, gpuLibrary: string, source: string): string {
  const directory = join(path, "native");
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(nativeDirectory)) {
    if (name !== gpuLibrary) symlinkSync(join(nativeDirectory, name), join(directory, name));
  }
  writeFileSync(join(path, "gpu.c"), source);
  const compiled = Bun.spawnSync(["cc", "-shared", "-fPIC", "-o", join(directory, gpuLibrary), join(path, "gpu.c")]);
  expect(compiled.exitCode).toBe(0);
  return directory;
}

const canRun = canTranscribe("choosing GPU backends") && available("choosing GPU backends", Bun.which("cc") ?? "cc");

describe.skipIf(!canRun)("of real GPU backends", () => {
  test.each([
    ["crashes when it is loaded", "void *ggml_backend_init(void) { __builtin_trap(); }", /SIGILL|SIGTRAP/],
    ["finds no GPU", "void *ggml_backend_init(void) { return 0; }", /cannot load/],
    [
      "needs a library that is not here",
      "void nowhere(void); void *ggml_backend_init(void) { nowhere(); return 0; }",
      /cannot load/,
    ],
  ])(
    "one that %s is left out, with its reason",
    async (_, source, reason) => {
      using directory = temporaryDirectory();
      const { options } = machine(
        directory.path,
        {},
        {
          command: [process.execPath, join(root, "src", "main.ts"), "__selftest"],
          whisperModel: basePath,
          candidates: (name) => name === vulkan,
        },
      );
      const native = directoryWith(join(directory.path, "real"), vulkan, source);
      const choice = await chooseGpuLibrary({ ...options, nativeDirectory: native });
      expect(choice).toEqual({
        gpuLibrary: null,
        leftOut: [{ library: vulkan, reason: expect.stringMatching(reason) }],
      });
    },
    30_000,
  );
});
