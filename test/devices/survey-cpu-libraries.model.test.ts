import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  type CpuVariant,
  chooseCpuLibrary,
  leaveOutCpuLibrary,
  surveyCpuLibraries,
} from "../../src/devices/cpu-libraries.ts";
import { basePath, canTranscribe, nativeDirectory } from "../support/whisper.ts";

/** A self-test that computes nothing: zen4 crashes, icelake works, and the CPU does not support most others. */
const script = `case "$1" in *rateCpuLibrary*zen4*) score=9;; *rateCpuLibrary*icelake*) score=8;; *rateCpuLibrary*x64*) score=1;; *) score=0;; esac
  case "$1" in *rateCpuLibrary*) echo "{\\"score\\":$score}";; *zen4*) kill -ILL $$;; *) echo '{"seconds":0.5,"instructions":"AVX2"}';; esac`;
const command = ["sh", "-c", script, "self-test"];

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

const optionsHere = () => {
  return { command, nativeDirectory, speechModel: basePath, verdictsPath: join(directory.path, "devices.json") };
};

const passed = { ok: true, seconds: 0.5, instructions: "AVX2" } as const;

/** Returns how the survey describes an allowed variant. */
const variant = (name: string, score: number, test: CpuVariant["test"], leftOut: string | null = null): CpuVariant => {
  return { library: `libggml-cpu-${name}.so`, name, score, isAllowed: true, leftOut, test };
};

describe.skipIf(!canTranscribe("surveying CPU variants"))("a survey of the CPU variants", () => {
  test("lists the variant in use, those that crash and those not tested, and stores nothing", async () => {
    const options = optionsHere();
    const { used, variants } = await surveyCpuLibraries({ ...options, all: false });
    expect(used).toBe("libggml-cpu-icelake.so");
    expect(variants.slice(0, 3)).toEqual([
      variant("zen4", 9, { ok: false, reason: "it crashed with SIGILL" }),
      variant("icelake", 8, passed),
      variant("x64", 1, null),
    ]);
    expect(variants.slice(3).map(({ score, test }) => [score, test])).toEqual(variants.slice(3).map(() => [0, null]));
    expect(existsSync(options.verdictsPath)).toBe(false);
  });

  test("tests all supported variants on request, and respects the stored verdicts", async () => {
    const options = optionsHere();
    await chooseCpuLibrary(options);
    await leaveOutCpuLibrary(options, "libggml-cpu-icelake.so", "a worker met an illegal instruction");
    const { used, variants } = await surveyCpuLibraries({ ...options, all: true });
    expect(used).toBe("libggml-cpu-x64.so");
    expect(variants[1]).toEqual(variant("icelake", 8, passed, "a worker met an illegal instruction"));
    expect(variants[2]?.test).toEqual(passed);
  });

  test("uses only the variant of the setting, although a faster one fits", async () => {
    const options = optionsHere();
    const { used, variants } = await surveyCpuLibraries({ ...options, cpuVariant: "x64", all: false });
    expect(used).toBe("libggml-cpu-x64.so");
    expect(variants.slice(0, 3).map(({ isAllowed, test }) => [isAllowed, test])).toEqual([
      [false, null],
      [false, null],
      [true, passed],
    ]);
    const other = await surveyCpuLibraries({ ...options, cpuVariant: "haswell", all: true });
    expect(other.used).toBeNull();
    expect(other.variants[1]?.test).toEqual(passed);
  });
});
