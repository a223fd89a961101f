import { describe, expect, test } from "bun:test";
import { GpuTester, type GpuTestOptions } from "../../src/devices/gpu-self-test.ts";
import { basePath, nativeDirectory } from "../support/whisper.ts";
import { roleCommand, vulkan, vulkanTests } from "./simulated.ts";

const { gpu, path, cpuLibrary } = await vulkanTests();

/** A device compiles its kernels at first use, which takes three minutes of one processor. */
const compiledWithin = 900_000;
describe.skipIf(gpu === null)("Whisper base on Vulkan", () => {
  test(
    "recognizes the CPU's words, and is used although slower only if it is requested",
    async () => {
      const options: GpuTestOptions = {
        ...{
          command: roleCommand("__selftest", gpu ?? {}),
          nativeDirectory,
          cpuLibrary: cpuLibrary(),
          speechModel: basePath,
        },
        ...{ withSample: (use) => use(path), mustBeFaster: true },
        timeoutMilliseconds: compiledWithin,
      };
      const trial = await new GpuTester(options).test({ library: vulkan, environment: {} });
      expect(trial).toEqual({
        ok: false,
        reason: expect.stringMatching(/^it is no faster than the CPU/),
        lasting: true,
        late: false,
      });
    },
    compiledWithin + 60_000,
  );
});
