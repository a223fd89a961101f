import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { smallSizes, smallWhisper } from "../../harness/whisper/small-models.ts";
import { testEncoder } from "../../src/devices/encoder-self-test.ts";
import { describeKernels, limitOf } from "../../src/devices/kernels.ts";

type Limits = Parameters<typeof limitOf>[0];

const avx512 = "avx2 avx512f avx512bw avx512_vnni";
const cases: readonly (readonly [
  flags: string,
  Limits["instructions"],
  variant: string,
  cpuVariant: string,
  RegExp | null,
])[] = [
  ["sse4_2", "none", "sse42", "auto", /^this processor has no AVX2, which would be faster$/],
  ["avx2 fma", "AVX2", "haswell", "auto", /^this processor has no AVX-512 VNNI or AVX-VNNI, which would be faster$/],
  ["avx2 avx_vnni", "AVX-VNNI", "alderlake", "auto", /^this processor has no AVX-512 VNNI, which/],
  [avx512, "AVX-512 VNNI", "icelake", "auto", /^this processor has no AVX-512 BF16, which/],
  [`${avx512} avx512_bf16`, "AVX-512 VNNI and BF16", "zen4", "auto", null],
  [`${avx512} avx512_bf16`, "AVX-512 VNNI and BF16", "zen4", "zen4", null],
  [avx512, "AVX2", "haswell", "haswell", /^limited by engine\.cpu_variant$/],
  [avx512, "AVX2", "haswell", "auto", /^the variant haswell does not use AVX-512 VNNI$/],
  ["avx2", "none", "x64", "x64", /^limited by engine\.cpu_variant$/],
];

test.each(cases)("a processor with %p that computes with %p by the variant %p (%p) is told its limit", (...one) => {
  const [flags, instructions, variant, cpuVariant, expected] = one;
  const limit = limitOf({
    cpuinfo: `model name\t: Some CPU\nflags\t\t: ${flags}\n`,
    instructions,
    variant,
    cpuVariant,
  });
  if (expected === null) expect(limit).toBeNull();
  else expect(limit).toMatch(expected);
});

test("a processor of another architecture has no such limit", () => {
  const cpuinfo = "Features\t: fp asimd asimddp i8mm\n";
  expect(limitOf({ cpuinfo, instructions: "none", variant: "armv8.2_1", cpuVariant: "auto" })).toBeNull();
});

/** Returns options with a model, and with a self-test of its encoder that finds 7-bit products. */
function placeOf(root: string, write: (path: string) => void) {
  const nativeDirectory = join(root, "native");
  mkdirSync(nativeDirectory);
  writeFileSync(join(nativeDirectory, "libggml-cpu-haswell.so"), "");
  const [speechModel, onnxBinding] = [join(root, "model.bin"), join(root, "onnx.node")];
  write(speechModel);
  writeFileSync(onnxBinding, "");
  const answer = { name: "made", form: "7-bit products", seconds: 1, ownSeconds: 2, error: 0 };
  return {
    ...{ nativeDirectory, speechModel, onnxBinding, cpuLibrary: "libggml-cpu-haswell.so", cpuVariant: "auto" },
    ...{ verdictsPath: join(root, "verdicts.json"), cpuinfo: "flags\t: avx2 fma\n" },
    command: ["sh", "-c", `echo '${JSON.stringify(answer)}'`, "self-test"],
  };
}

const lacking = "; this processor has no AVX-512 VNNI or AVX-VNNI, which would be faster";

test("the description of the kernels names the encoder that the self-test chose", async () => {
  using directory = temporaryDirectory();
  const write = (path: string) => writeFileSync(path, smallWhisper().bytes);
  const options = placeOf(directory.path, write);
  const untested = await describeKernels({ ...options, instructions: "AVX2" });
  expect(untested).toEqual({
    summary: `AVX2; encoder: the model's own until its self-test, decoder: 8-bit kernels, speaker models: ONNX Runtime${lacking}`,
    encoder: null,
  });
  await testEncoder(options);
  expect(await describeKernels({ ...options, instructions: "AVX2" })).toEqual({
    summary: `AVX2; encoder: 7-bit products, decoder: 8-bit kernels, speaker models: ONNX Runtime${lacking}`,
    encoder: "7-bit products, 2.00 times as fast as the model's own",
  });
});

const quantized = (path: string) => writeFileSync(path, smallWhisper({ ...smallSizes, weightForm: 2007 }).bytes);
const parakeet = (weightForm: number) => (path: string) => writeRandomModel(path, { ...tinyModel, weightForm });

test.each<[name: string, Limits["instructions"], expected: string, write: (path: string) => void]>([
  ["quantized Whisper", "AVX2", "the model's own until its self-test, decoder: ggml's with 8-bit attention", quantized],
  ["quantized Whisper", "none", "the model's own until its self-test, decoder: ggml's,", quantized],
  ["Parakeet in floats", "AVX-512 VNNI and BF16", "encoder: bfloat16, decoder: ggml's,", parakeet(0)],
  ["Parakeet in floats", "AVX-512 VNNI", "encoder: ggml's, decoder: ggml's,", parakeet(1)],
  ["quantized Parakeet", "AVX-512 VNNI", "encoder: 8-bit products, decoder: ggml's,", parakeet(2007)],
  ["quantized Parakeet", "AVX2", "encoder: ggml's, decoder: ggml's,", parakeet(2007)],
])("%s with %p has the kernels of its form: %p", async (_, instructions, expected, write) => {
  using directory = temporaryDirectory();
  const { summary, encoder } = await describeKernels({ ...placeOf(directory.path, write), instructions });
  expect(summary).toContain(expected);
  expect(encoder).toBeNull();
});
