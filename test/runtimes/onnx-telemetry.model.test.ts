import { describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { smallSizes, smallWhisper } from "../../harness/whisper/small-models.ts";
import type { SelfTestName, SelfTestParams } from "../../src/devices/self-tests.ts";
import { programFiles } from "../../src/program/index.ts";
import { loadGgml } from "../../src/runtimes/ggml.ts";
import { nativeDirectory } from "../support/whisper.ts";

const { onnxBinding, segmentationModel, embeddingModel } = await programFiles("");

describe.each<[string, { ORT_DISABLE_TELEMETRY?: string }]>([
  ["says nothing", {}],
  ["wants it to report", { ORT_DISABLE_TELEMETRY: "0" }],
])("ONNX Runtime sends no telemetry and stores no machine id when the environment %s", (_, environment) => {
  /** Runs a self-test and expects that it leaves no file in the home directory. */
  async function answerOf<N extends SelfTestName>(name: N, params: SelfTestParams<N>): Promise<unknown> {
    using home = temporaryDirectory();
    const child = Bun.spawn(programCommand("__selftest", JSON.stringify({ name, params })), {
      env: { HOME: home.path, TMPDIR: home.path, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0", ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
    const answer: unknown = await new Response(child.stdout).json();
    expect(await child.exited).toBe(0);
    expect(readdirSync(home.path)).toEqual([]);
    return answer;
  }

  test("with the diarization models", async () => {
    expect(await answerOf("computeDiarization", { onnxBinding, segmentationModel, embeddingModel })).toEqual({
      seconds: expect.any(Number),
    });
  });

  // The encoder is compiled once, where the environment asks for more than it does by default.
  if (environment.ORT_DISABLE_TELEMETRY === undefined) return;
  test("with Whisper's encoder", async () => {
    using encoders = temporaryDirectory();
    const speechModel = join(encoders.path, "small.bin");
    // The smallest width of which all forms of the encoder can be made.
    const sizes = { ...smallSizes, audioWidth: 128, audioHeads: 2, textWidth: 128, textHeads: 2 };
    writeFileSync(speechModel, smallWhisper(sizes).bytes);
    const { cpuLibrary } = loadGgml({ nativeDirectory });
    const answer = await answerOf("compareEncoders", {
      ...{ nativeDirectory, cpuLibrary, speechModel, onnxBinding },
      encoderDirectory: join(encoders.path, "encoders"),
    });
    expect(answer).toMatchObject({ name: expect.any(String), seconds: expect.any(Number) });
  });
});
