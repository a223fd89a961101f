import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { chooseCpuLibrary, leaveOutCpuLibrary, surveyCpuLibraries } from "../../../src/speech/devices/cpu-libraries.ts";
import { basePath, canTranscribe, nativeDirectory } from "../recognizer/whisper/support.ts";

/** A self-test that computes nothing: zen4 crashes, icelake works, and the CPU does not support most others. */
const script = `case "$1" in *rateCpuLibrary*zen4*) score=9;; *rateCpuLibrary*icelake*) score=8;; *rateCpuLibrary*x64*) score=1;; *) score=0;; esac
  case "$1" in *rateCpuLibrary*) echo "{\\"score\\":$score}";; *zen4*) kill -ILL $$;; *) echo '{"seconds":0.5,"instructions":"AVX2"}';; esac`;
const command = ["sh", "-c", script, "self-test"];

const passed = { ok: true, seconds: 0.5, instructions: "AVX2" } as const;

describe.skipIf(!canTranscribe("surveying CPU variants"))("a survey of the CPU variants", () => {
  test("lists the variant in use, those that crash and those not tested, and stores nothing", async () => {
    using directory = temporaryDirectory();
    const verdictsPath = join(directory.path, "devices.json");
    const options = { command, nativeDirectory, speechModel: basePath, verdictsPath };
    const { used, variants } = await surveyCpuLibraries({ ...options, all: false });
    expect(used).toBe("libggml-cpu-icelake.so");
    expect(variants.slice(0, 3)).toEqual([
      {
        library: "libggml-cpu-zen4.so",
        name: "zen4",
        score: 9,
        isAllowed: true,
        leftOut: null,
        test: { ok: false, reason: "it crashed with SIGILL" },
      },
      { library: "libggml-cpu-icelake.so", name: "icelake", score: 8, isAllowed: true, leftOut: null, test: passed },
      { library: "libggml-cpu-x64.so", name: "x64", score: 1, isAllowed: true, leftOut: null, test: null },
    ]);
    expect(variants.slice(3).map(({ score, test }) => [score, test])).toEqual(variants.slice(3).map(() => [0, null]));
    expect(existsSync(verdictsPath)).toBe(false);
  });

  test("tests all supported variants on request, and respects the stored verdicts", async () => {
    using directory = temporaryDirectory();
    const verdictsPath = join(directory.path, "devices.json");
    const options = { command, nativeDirectory, speechModel: basePath, verdictsPath };
    await chooseCpuLibrary(options);
    await leaveOutCpuLibrary(options, "libggml-cpu-icelake.so", "a worker met an illegal instruction");
    const { used, variants } = await surveyCpuLibraries({ ...options, all: true });
    expect(used).toBe("libggml-cpu-x64.so");
    expect(variants[1]).toEqual({
      library: "libggml-cpu-icelake.so",
      name: "icelake",
      score: 8,
      isAllowed: true,
      leftOut: "a worker met an illegal instruction",
      test: passed,
    });
    expect(variants[2]?.test).toEqual(passed);
  });

  test("uses only the variant of the setting, although a faster one fits", async () => {
    using directory = temporaryDirectory();
    const options = {
      command,
      nativeDirectory,
      speechModel: basePath,
      verdictsPath: join(directory.path, "none.json"),
    };
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
