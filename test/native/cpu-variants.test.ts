import { expect, test } from "bun:test";
import { allVariants, variantsHere } from "../../native/steps/cpu-variants.ts";

const AVX2 = "fpu sse4_2 avx f16c avx2 bmi2 fma";
const AVX512 = `${AVX2} avx512f avx512cd avx512vl avx512dq avx512bw`;

test.each([
  ["no extension", "fpu sse2", ["x64"]],
  ["SSE 4.2", "fpu sse4_2", ["x64", "sse42"]],
  ["AVX without AVX2", "fpu sse4_2 avx f16c", ["x64", "sse42"]],
  ["AVX2", AVX2, ["x64", "haswell"]],
  ["AVX2 and VNNI", `${AVX2} avx_vnni`, ["x64", "alderlake"]],
  ["AVX-512", AVX512, ["x64", "skylakex"]],
  ["AVX-512 and VNNI", `${AVX512} avx512vbmi avx512_vnni`, ["x64", "icelake"]],
  ["AVX-512, VNNI and bfloat16", `${AVX512} avx512vbmi avx512_vnni avx512_bf16`, ["x64", "zen4"]],
  ["AMX", `${AVX512} avx512vbmi avx512_vnni avx512_bf16 amx_int8`, ["x64", "sapphirerapids"]],
  ["AMX but no bfloat16, as some hypervisors report", `${AVX512} amx_int8`, ["x64", "skylakex"]],
])("an x86-64 processor with %s needs its own variant and the one for every processor", (_, flags, expected) => {
  expect(variantsHere("x64", `processor\t: 0\nflags\t\t: ${flags}\nbugs\t\t: amx_int8\n`)).toEqual(expected);
});

test.each([
  ["an arm64 processor without extensions", "arm64", "Features\t: fp asimd", ["armv8.0_1"]],
  ["an arm64 processor with dot products", "arm64", "Features\t: fp asimddp asimdhp", ["armv8.0_1", "armv8.2_2"]],
  ["a processor whose flags cannot be read", "x64", "", ["x64"]],
])("%s needs a variant that runs on it", (_, architecture, cpuinfo, expected) => {
  expect(variantsHere(architecture, cpuinfo)).toEqual(expected);
});

test("every variant of a processor is among those of a release", () => {
  expect(allVariants("x64")).toEqual(expect.arrayContaining(variantsHere("x64")));
  expect(allVariants("x64")).toHaveLength(8);
});
