import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { available, root } from "../../harness/checkout.ts";
import { cpuSettings } from "../../harness/device.ts";
import { cpuOption, cpuTerms, fasterWhisperSettings } from "../../tools/shared/cpu-variant.ts";
import { readArguments } from "../../tools/shared/options.ts";

describe("the option --cpu", () => {
  test("is the fastest variant by default, and otherwise one of this architecture", () => {
    const read = (...args: readonly string[]) => readArguments(args, { cpu: cpuOption }, false).values.cpu;
    expect(read()).toBe("auto");
    const slowest = process.arch === "x64" ? "x64" : "armv8.0_1";
    expect(read("--cpu", slowest)).toBe(slowest);
    expect(() => read("--cpu", "haswel")).toThrow(/^--cpu is auto, .+, not haswel$/);
  });

  test("limits faster-whisper to AVX2 only with haswell", () => {
    const limits = { CT2_FORCE_CPU_ISA: "AVX2", ONEDNN_MAX_CPU_ISA: "AVX2", MKL_ENABLE_INSTRUCTIONS: "AVX2" };
    expect(fasterWhisperSettings("haswell")).toEqual(limits);
    for (const cpu of ["auto", "x64", "zen4"]) expect(fasterWhisperSettings(cpu)).toEqual({});
  });

  test("is named in the terms of a measurement unless it is the fastest variant", () => {
    expect(cpuTerms("auto")).toEqual([]);
    expect(cpuTerms("haswell")).toEqual(["CPU variant haswell"]);
  });
});

const native = `${root}/build/native`;

describe.skipIf(!available("the settings of a CPU variant", native))("the server's settings for --cpu", () => {
  test("are empty for the fastest variant, and name another one that works here", async () => {
    expect(await cpuSettings("auto")).toEqual({});
    const slowest = readdirSync(native).includes("libggml-cpu-x64.so") ? "x64" : "armv8.0_1";
    expect(await cpuSettings(slowest)).toEqual({ TRANSCRIBE_ENGINE_CPU_VARIANT: slowest });
  });

  test("are refused with the variants that can be used when the build lacks the variant", async () => {
    await expect(cpuSettings("pentium")).rejects.toThrow(/no such CPU variant\. Available here, fastest first: \w/);
  });
});
