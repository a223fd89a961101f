import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { available, root } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { inCache } from "../../native/steps/in-cache.ts";
import { whisperSource } from "../../native/steps/source.ts";
import { runTool } from "../../native/steps/tools.ts";

// Without the cache, a busy machine compiles for minutes.
setDefaultTimeout(600_000);

const libraries = join(root, "build", "native");
const variant = (name: string) => join(libraries, `libggml-cpu-${name}.so`);
const flags = new Set(/^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1]?.trim().split(/\s+/));
const supports = (...names: string[]) => names.every((name) => flags.has(name));

const hasAvx2 = supports("avx2", "fma", "f16c", "bmi2");
const hasAvx512 = hasAvx2 && supports("avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vbmi", "avx512_vnni");
// AVX-512 has the instructions of AVX-VNNI in another encoding (TRANSCRIBE_AVX_VNNI_AS_EVEX in native/src/kernels/lanes/for-each.h).
const hasOtherEncoding = hasAvx512 && !supports("avx_vnni");

/** A kind of instructions, and a variant of ggml that chooses it, unless the program is given a replacement. */
interface Kind {
  readonly kind: string;
  readonly isSupported: boolean;
  readonly library: string;
  readonly replacement: readonly string[];
}

/** The kinds, the slowest first. */
const kinds: readonly Kind[] = [
  { kind: "AVX2", isSupported: hasAvx2, library: variant("haswell"), replacement: [] },
  hasOtherEncoding
    ? { kind: "AVX-VNNI", isSupported: true, library: variant("haswell"), replacement: ["avx_vnni"] }
    : {
        kind: "AVX-VNNI",
        isSupported: hasAvx2 && supports("avx_vnni"),
        library: variant("alderlake"),
        replacement: [],
      },
  { kind: "AVX-512 VNNI", isSupported: hasAvx512, library: variant("icelake"), replacement: [] },
  {
    kind: "AVX-512 VNNI and BF16",
    isSupported: hasAvx512 && supports("avx512_bf16"),
    library: variant("zen4"),
    replacement: [],
  },
];
const tested = kinds.filter(
  ({ kind, isSupported, library }) => isSupported && available(`the kernels for ${kind}`, library),
);
const untested = kinds.filter(({ isSupported }) => !isSupported).map(({ kind }) => kind);
if (untested.length > 0) console.warn(`SKIPPED: the kernels for ${untested.join(", ")}; the processor lacks them`);

const compiler = Bun.which("g++") ?? "g++";
const canCompile = available("checks of the kernels", compiler, ...["ggml", "ggml-base"].map(libraryPath));

function libraryPath(name: string): string {
  return join(libraries, `lib${name}.so`);
}

/** Compiles the checks and the kernels, unless the cache has them, and links them. Returns the program's path. */
async function compile(directory: string): Promise<string> {
  const whisper = whisperSource(root);
  const includes = [join(root, "native", "src"), join(whisper, "ggml", "include"), join(whisper, "include")];
  const options = ["-std=gnu++17", "-O2"];
  if (hasOtherEncoding) options.push("-DTRANSCRIBE_AVX_VNNI_AS_EVEX");
  const kernels = [
    "decoder/cross-attention",
    "decoder/median-filter",
    "decoder/packed-weights",
    "decoder/probabilities",
    "decoder/quantize-weights",
    "decoder/spectrum",
    "encoder/attention",
    "encoder/encoder-layers",
    "encoder/padding",
    "kernels/lanes/instructions",
    "kernels/layer-steps",
    "kernels/quantized",
    "kernels/rows",
  ];
  const checks = join(root, "test", "native", "kernels");
  const sources = [
    ...kernels.map((name) => join(root, "native", "src", `${name}.cpp`)),
    ...[...new Bun.Glob("*.cpp").scanSync({ cwd: checks, absolute: true })].sort(),
  ];
  const hash = createHash("sha256").update(JSON.stringify([options, await runTool([compiler, "--version"], () => {})]));
  for (const folder of [...includes, checks]) {
    for (const name of [...new Bun.Glob("**/*.{h,cpp}").scanSync(folder)].sort()) {
      hash.update(JSON.stringify([name, readFileSync(join(folder, name), "utf8")]));
    }
  }
  const key = hash.digest("hex").slice(0, 16);
  const objectOf = (source: string) => `${sources.indexOf(source)}.o`;
  const objects = await inCache(
    join(defaultCacheRoot(), "kernel-checks", key),
    () => {},
    async (work) => {
      const made = join(work, "made");
      mkdirSync(made);
      const remaining = [...sources];
      const lane = async () => {
        for (let source = remaining.pop(); source !== undefined; source = remaining.pop()) {
          // The program has a function `instructions` of its own, which can replace the kind.
          const renamed = basename(source) === "instructions.cpp" ? ["-Dinstructions=detected_instructions"] : [];
          const command = [compiler, ...options, ...includes.map((path) => `-I${path}`), ...renamed];
          await runTool([...command, "-c", source, "-o", join(made, objectOf(source))], () => {});
        }
      };
      await Promise.all(Array.from({ length: availableParallelism() }, lane));
      return made;
    },
  );
  const program = join(directory, "kernels");
  const linked = [`-L${libraries}`, "-lggml", "-lggml-base", `-Wl,-rpath,${libraries}`, "-pthread"];
  const paths = sources.map((source) => join(objects, objectOf(source)));
  await runTool([compiler, ...paths, "-o", program, ...linked], () => {});
  return program;
}

describe.skipIf(!canCompile || tested.length === 0)("the kernels", () => {
  const directory = temporaryDirectory();
  let program = "";

  beforeAll(async () => {
    program = await compile(directory.path);
  });
  afterAll(() => directory[Symbol.dispose]());

  test.each(tested)("for $kind compute what references in 64 bits compute", async ({ kind, library, replacement }) => {
    const child = Bun.spawn([program, library, ...replacement], { stderr: "ignore" });
    const lines = (await new Response(child.stdout).text()).trim().split("\n");
    expect(lines[0]).toBe(`kind: ${kind}`);
    expect(lines.filter((line) => !line.startsWith("ok ")).slice(1)).toEqual([]);
    expect(lines.length).toBeGreaterThan(200);
    expect(await child.exited).toBe(0);
  });
});
