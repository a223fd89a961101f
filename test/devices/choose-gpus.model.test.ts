import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { available } from "../../harness/checkout.ts";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type ChooseGpusOptions, chooseGpus } from "../../src/devices/choose-gpus.ts";
import { basePath, canTranscribe, nativeDirectory } from "../support/whisper.ts";

const cuda = "libggml-cuda.so";
const vulkan = "libggml-vulkan.so";

/** Shell commands of a scripted self-test by GPU library; the empty name stands for the CPU. */
type Answers = Readonly<Record<string, string>>;
const heard = (seconds: number, ...words: string[]) => `echo '${JSON.stringify({ seconds, words })}'`;
const onCpu = { "": heard(2, "ask", "not") };

/** Returns answers in which the GPU differs from the CPU in the last word. */
function aWordApart(words: number): Answers {
  const same = Array.from({ length: words - 1 }, (_, index) => `word${index}`);
  return { "": heard(2, ...same, "not"), [vulkan]: heard(1, ...same, "now") };
}

/** Returns a device as a backend lists it. */
const device = (name: string, description = "H200", address = "0000:01:00.0") => ({ name, description, address });
/** Returns a command that prints a list of these devices. */
function listed(...devices: ReturnType<typeof device>[]): string {
  const more = { backend: "", kind: "gpu", memoryFreeBytes: 0, memoryTotalBytes: 0 };
  return `echo '${JSON.stringify({ devices: devices.map((each) => ({ ...each, ...more })), unusable: [] })}'`;
}
const oneEach = { [cuda]: listed(device("CUDA0")), [vulkan]: listed(device("Vulkan0")) };

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

/** Returns options for a machine whose self-tests give these answers. @param lists the backends' device lists */
function machine(answers: Answers, changes: Partial<ChooseGpusOptions> = {}, lists: Answers = oneEach) {
  const { path } = directory;
  const native = join(path, "native");
  mkdirSync(native, { recursive: true });
  for (const name of ["whisper.node", ...Object.keys(answers)])
    if (name !== "") writeFileSync(resolve(native, name), name);
  const model = join(path, "model");
  writeFileSync(model, "weights");
  const tried = join(path, "tried");
  const casesOf = (all: Answers) => Object.entries(all).map(([library, answer]) => `"${library}") ${answer};;`);
  const script = `number="$CUDA_VISIBLE_DEVICES$GGML_VK_VISIBLE_DEVICES"
    library=$(printf %s "$1" | sed -n 's/.*"gpuLibrary":"\\([^"]*\\)".*/\\1/p')
    case "$1" in *listDevices*) name=listDevices;; *) name=transcribeSample;; esac
    echo "$name $library $number" >>'${tried}'
    if [ $name = listDevices ]; then case "$library" in ${casesOf(lists).join(" ")} esac; exit; fi
    case "$library" in ${casesOf(answers).join(" ")} esac`;
  const options: ChooseGpusOptions = {
    command: ["sh", "-c", script, "self-test"],
    nativeDirectory: native,
    cpuLibrary: "libggml-cpu-x64.so",
    speechModel: model,
    withSample: (use) => use(join(path, "sample.pcm")),
    mustBeFaster: true,
    backends: () => true,
    allows: () => true,
    withinReach: () => true,
    verdictsPath: join(path, "devices.json"),
    environment: {},
    ...changes,
  };
  /** Returns the started self-tests: name, library and number. */
  const all = () => (existsSync(tried) ? readFileSync(tried, "utf8").split("\n").slice(0, -1) : []);
  const triedLibraries = () =>
    all().flatMap((line) => (line.startsWith("transcribeSample ") ? (line.split(" ")[1] ?? "") : []));
  return { options, all, triedLibraries };
}

describe("among the GPU backends", () => {
  const works = heard(1, "ask", "not");
  test.each<[string, Answers, Partial<ChooseGpusOptions>, string[], RegExp[]]>([
    ["CUDA's comes first", { ...onCpu, [cuda]: works, [vulkan]: works }, {}, ["CUDA0"], []],
    [
      "Vulkan's takes the place of one that crashes",
      { ...onCpu, [cuda]: "kill -ABRT $$", [vulkan]: works },
      {},
      ["Vulkan0"],
      [/SIGABRT/],
    ],
    ["one that hears one word in ten otherwise is used", aWordApart(10), {}, ["Vulkan0"], []],
    ["one that hears more words otherwise is left out", aWordApart(9), {}, [], [/1 of 9 differ$/]],
    ["one that hears other words is left out", { ...onCpu, [vulkan]: heard(1, "ask", "now") }, {}, [], [/other words/]],
    ["one that hears nothing is left out", { ...onCpu, [vulkan]: heard(1) }, {}, [], [/other words/]],
    [
      "one that is slower is left out",
      { ...onCpu, [vulkan]: heard(3, "ask", "not") },
      {},
      [],
      [/no faster than the CPU: 3.00 s against 2.00 s/],
    ],
    [
      "one that is slower is taken where it was asked for",
      { ...onCpu, [vulkan]: heard(3, "ask", "not") },
      { mustBeFaster: false },
      ["Vulkan0"],
      [],
    ],
    [
      "where the CPU hears nothing, nothing is compared",
      { "": heard(2), [vulkan]: heard(1) },
      {},
      [],
      [/no words in the sample/],
    ],
    [
      "what is no candidate is not asked",
      { ...onCpu, [cuda]: works, [vulkan]: works },
      { backends: (kind) => kind === "vulkan" },
      ["Vulkan0"],
      [],
    ],
    ["what nobody can reach is not asked", { ...onCpu, [vulkan]: works }, { withinReach: () => false }, [], []],
  ])("%s", async (_, answers, changes, chosen, reasons) => {
    const { options, all } = machine(answers, changes);
    const choice = await chooseGpus(options);
    expect(choice.gpus.map(({ label }) => label)).toEqual(chosen);
    expect(choice.leftOut.map(({ reason }) => reason)).toEqual(reasons.map((reason) => expect.stringMatching(reason)));

    // Later choices use the stored verdict and start no process.
    const before = all();
    expect(await chooseGpus(options)).toEqual(choice);
    expect(all()).toEqual(before);
  });

  test.each<[string, Partial<ChooseGpusOptions>, Answers, RegExp]>([
    ["the sample can't be had", { withSample: () => Promise.reject(new Error("no ffmpeg")) }, onCpu, /no ffmpeg/],
    ["a self-test says nonsense", {}, { ...onCpu, [vulkan]: "echo 7" }, /./],
  ])("the CPU is used where %s", async (_, changes, answers, reason) => {
    const { options } = machine({ [vulkan]: "exit 1", ...answers }, changes);
    const choice = await chooseGpus(options);
    expect(choice).toEqual({ gpus: [], leftOut: [expect.objectContaining({ reason: expect.stringMatching(reason) })] });
  });

  test("an abort ends it", async () => {
    const controller = new AbortController();
    const { options } = machine({ ...onCpu, [vulkan]: "exec sleep 60" }, { signal: controller.signal });
    const choice = chooseGpus(options);
    setTimeout(() => controller.abort(new Error("closed")), 20);
    await expect(choice).rejects.toThrow("closed");
  });

  test("a failure by chance is tested again the next time", async () => {
    const { options, triedLibraries } = machine({
      ...onCpu,
      [vulkan]: "echo 'out of memory' >&2; exit 1",
    });
    const choice = await chooseGpus(options);
    expect(choice).toEqual({ gpus: [], leftOut: [{ library: vulkan, gpu: "Vulkan0", reason: "out of memory" }] });
    await chooseGpus(options);
    expect(triedLibraries()).toEqual([vulkan, vulkan]);
  });

  test("a self-test that exceeds its time limit is repeated after a day", async () => {
    const { options, triedLibraries } = machine({ ...onCpu, [vulkan]: "exec sleep 60" }, { timeoutMilliseconds: 2000 });
    const choice = await chooseGpus(options);
    expect(choice.leftOut).toEqual([{ library: vulkan, gpu: "Vulkan0", reason: "it did not finish within 2 s" }]);
    expect(await chooseGpus(options)).toEqual(choice);
    expect(triedLibraries()).toEqual([vulkan]);
    const kept = readFileSync(options.verdictsPath, "utf8");
    const until = Number(/"holdsUntil": (\d+)/.exec(kept)?.[1]);
    expect(until - Date.now()).toBeGreaterThan(23 * 3_600_000);
    writeFileSync(options.verdictsPath, kept.replace(String(until), String(Date.now())));
    await chooseGpus(options);
    expect(triedLibraries()).toEqual([vulkan, vulkan]);
  });

  test("a verdict is valid for its library, its model and its condition on speed only", async () => {
    const slow = { ...onCpu, [vulkan]: heard(3, "ask", "not") };
    const { options, triedLibraries } = machine(slow);
    await chooseGpus(options);
    expect((await chooseGpus({ ...options, mustBeFaster: false })).gpus).toHaveLength(1);
    const tries = () => triedLibraries().filter((name) => name === vulkan).length;
    expect(tries()).toBe(2);
    writeFileSync(join(options.nativeDirectory, vulkan), "another build");
    await chooseGpus(options);
    expect(tries()).toBe(3);
    writeFileSync(options.speechModel, "other weights");
    await chooseGpus(options);
    expect(tries()).toBe(4);
  });
});

describe("among several GPUs", () => {
  const works = heard(1, "ask", "not");
  const two = [device("CUDA0", "H200", "0000:01:00.0"), device("CUDA1", "L4", "0000:02:00.0")] as const;
  const environments = (gpus: readonly { label: string; environment: object }[]) =>
    gpus.map(({ label, environment }) => [label, environment]);

  test("each is tested alone by its number, and those that pass are used", async () => {
    const answer = `if [ "$number" = 1 ]; then kill -ABRT $$; else ${works}; fi`;
    const { options, all } = machine({ ...onCpu, [cuda]: answer }, {}, { [cuda]: listed(...two) });
    const choice = await chooseGpus(options);
    expect(environments(choice.gpus)).toEqual([["CUDA0", { CUDA_VISIBLE_DEVICES: "0" }]]);
    expect(choice.leftOut).toEqual([{ library: cuda, gpu: "CUDA1", reason: expect.stringMatching(/SIGABRT/) }]);
    // The CPU transcribes the sample once.
    expect(all()).toEqual([
      `listDevices ${cuda} `,
      `transcribeSample ${cuda} 0`,
      "transcribeSample  ",
      `transcribeSample ${cuda} 1`,
    ]);
    expect(await chooseGpus(options)).toEqual(choice);
    expect(all()).toHaveLength(4);
  });

  test("those that the environment selects keep their numbers", async () => {
    const environment = { CUDA_VISIBLE_DEVICES: "GPU-5a, 3" };
    const { options } = machine({ ...onCpu, [cuda]: works }, { environment }, { [cuda]: listed(...two) });
    expect(environments((await chooseGpus(options)).gpus)).toEqual([
      ["CUDA0", { CUDA_VISIBLE_DEVICES: "GPU-5a" }],
      ["CUDA1", { CUDA_VISIBLE_DEVICES: "3" }],
    ]);
  });

  test("Vulkan's have the backend's own numbers, which count devices that it does not list", async () => {
    const [first, software, second] = [device("", "Arc", ""), device("", "llvmpipe", ""), device("", "Arc", "")];
    const lists = `case "$number" in
      "") ${listed({ ...first, name: "Vulkan0" }, { ...second, name: "Vulkan1" })};;
      0,1,2) ${listed(first, software, second)};;
      *) exit 1;;
    esac`;
    const { options } = machine({ ...onCpu, [vulkan]: works }, {}, { [vulkan]: lists });
    expect(environments((await chooseGpus(options)).gpus)).toEqual([
      ["Vulkan0", { GGML_VK_VISIBLE_DEVICES: "0" }],
      ["Vulkan1", { GGML_VK_VISIBLE_DEVICES: "2" }],
    ]);
  });

  test("a card is used with Vulkan only where CUDA does not drive it or failed with it", async () => {
    const vulkans = [device("Vulkan0", "H200", "0000:01:00.0"), device("Vulkan1", "Radeon", "0000:03:00.0")];
    const vulkanLists = `case "$number" in "") ${listed(...vulkans)};; *) exit 1;; esac`;
    const { options } = machine(
      { ...onCpu, [cuda]: works, [vulkan]: works },
      {},
      { [cuda]: listed(two[0]), [vulkan]: vulkanLists },
    );
    const labels = async (more: Partial<ChooseGpusOptions> = {}) =>
      (await chooseGpus({ ...options, ...more })).gpus.map(({ label }) => label);
    expect(await labels()).toEqual(["CUDA0", "Vulkan1"]);
    expect(await labels({ allows: (label) => label !== "CUDA0" })).toEqual(["Vulkan0", "Vulkan1"]);
    expect(await labels({ allows: (label) => label !== "Vulkan1" })).toEqual(["CUDA0"]);
  });

  test("CUDA's backend is recognized whatever its file is called", async () => {
    const elsewhere = join(directory.path, "of-mine.so");
    const { options } = machine(
      { ...onCpu, [elsewhere]: works },
      { cudaLibrary: elsewhere, backends: (kind) => kind === "cuda" },
      { [elsewhere]: listed(device("CUDA0")) },
    );
    expect((await chooseGpus(options)).gpus).toMatchObject([{ library: elsewhere, label: "CUDA0" }]);
  });

  test("an unreachable GPU is reported only if CUDA's backend is configured", async () => {
    const cudaLibrary = join(directory.path, "libggml-cuda.so");
    const { options, all } = machine({}, { withinReach: () => false });
    expect(await chooseGpus({ ...options, cudaLibrary })).toEqual({
      gpus: [],
      leftOut: [{ library: cudaLibrary, reason: "no GPU can be reached here: /dev has none" }],
    });
    const onVulkan = { ...options, cudaLibrary, backends: (kind: string) => kind === "vulkan" };
    expect(await chooseGpus(onVulkan)).toEqual({ gpus: [], leftOut: [] });
    expect(all()).toEqual([]);
  });

  test("a backend that crashes while it lists devices is not tested again", async () => {
    const { options, all } = machine({ ...onCpu, [cuda]: works }, {}, { [cuda]: "kill -SEGV $$" });
    const choice = await chooseGpus(options);
    expect(choice).toEqual({ gpus: [], leftOut: [{ library: cuda, reason: expect.stringMatching(/SIGSEGV/) }] });
    expect(await chooseGpus(options)).toEqual(choice);
    expect(all()).toHaveLength(1);
  });
});

/** Makes a library of a source. @param needs the name of another one that it asks for */
function compile(path: string, library: string, source: string, needs?: string): void {
  const cc = (...args: string[]) => {
    expect(Bun.spawnSync(["cc", "-shared", "-fPIC", ...args]).exitCode).toBe(0);
  };
  const sourcePath = join(path, "gpu.c");
  writeFileSync(sourcePath, source);
  const needed = join(path, "needed.so");
  if (needs !== undefined) cc("-o", needed, `-Wl,-soname,${needs}`, "-x", "c", "/dev/null");
  cc("-o", library, sourcePath, ...(needs === undefined ? [] : ["-Wl,--no-as-needed", needed]));
}

/** The real libraries, and a GPU backend made of a source. */
function directoryWith(path: string, gpuLibrary: string, source: string): string {
  const directory = join(path, "native");
  mkdirSync(directory, { recursive: true });
  for (const name of readdirSync(nativeDirectory)) {
    if (name !== gpuLibrary) symlinkSync(join(nativeDirectory, name), join(directory, name));
  }
  compile(path, join(directory, gpuLibrary), source);
  return directory;
}

const canRun = canTranscribe("choosing GPU backends") && available("choosing GPU backends", Bun.which("cc") ?? "cc");

describe.skipIf(!canRun)("among real GPU backends", () => {
  const real = { command: programCommand("__selftest"), speechModel: basePath };

  test.each([
    ["crashes when it is loaded", "void *ggml_backend_init(void) { __builtin_trap(); }", /SIGILL|SIGTRAP/],
    ["finds no GPU", "void *ggml_backend_init(void) { return 0; }", /cannot load/],
    [
      "needs a library that is not here",
      "void nowhere(void); void *ggml_backend_init(void) { nowhere(); return 0; }",
      /cannot load/,
    ],
  ])(
    "one that %s is left out with its reason",
    async (_, source, reason) => {
      const { options } = machine({}, { ...real, backends: (kind) => kind === "vulkan" });
      const native = directoryWith(join(directory.path, "real"), vulkan, source);
      const choice = await chooseGpus({ ...options, nativeDirectory: native });
      expect(choice).toEqual({
        gpus: [],
        leftOut: [{ library: vulkan, reason: expect.stringMatching(reason) }],
      });
    },
    30_000,
  );

  /** Code that must not run. */
  const trap = "void *ggml_backend_init(void) { __builtin_trap(); }";
  test.each<[string, (path: string, library: string) => void, RegExp]>([
    ["is not there", () => {}, /^the file does not exist$/],
    ["is none", (_, library) => writeFileSync(library, "no library"), /cannot open .*of-mine\.so: (?!.*not there)/],
    [
      "tells nothing of its build",
      (path, library) => compile(path, library, trap),
      /^it belongs to another build: make/,
    ],
    [
      "is of another build",
      (path, library) => compile(path, library, `const char transcribe_ggml[] = "another"; ${trap}`),
      /^it belongs to another build: make/,
    ],
    [
      "has no cuBLAS beside it",
      (path, library) => compile(path, library, trap, "libcublas.so.0"),
      /^it needs libcublas\.so\.0, which this machine lacks: put it beside/,
    ],
    [
      "finds no driver",
      (path, library) => compile(path, library, trap, "libcuda.so.0"),
      /^it needs libcuda\.so\.0, .*: it is part of NVIDIA's driver/,
    ],
  ])(
    "CUDA's that %s is left out before any of its code runs, and Vulkan's is still tested",
    async (_, make, reason) => {
      const { options } = machine({}, real);
      const native = directoryWith(join(directory.path, "real"), vulkan, "void *ggml_backend_init(void) { return 0; }");
      const cudaLibrary = join(directory.path, "of-mine.so");
      make(directory.path, cudaLibrary);
      const choice = await chooseGpus({ ...options, nativeDirectory: native, cudaLibrary });
      expect(choice).toEqual({
        gpus: [],
        leftOut: [
          { library: cudaLibrary, reason: expect.stringMatching(reason) },
          { library: vulkan, reason: expect.stringMatching(/cannot load/) },
        ],
      });
    },
    30_000,
  );
});
