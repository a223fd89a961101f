import { describe, expect, test } from "bun:test";
import { blockCount } from "../../src/blocks/index.ts";
import { describeWork } from "../../src/operations/completed-operation.ts";

const onCuda = { speechDevice: "cuda", gpu: "CUDA1" };
const areaOf = (seconds: number) => ({ directory: "/", pcm: { path: "/", sampleCount: seconds * 16_000 } });

describe("the audio of completed operations", () => {
  test.each([0.5, 5, 121, 122, 243, 3600, 65_000])("adds up to the recording over all blocks of %p s", (seconds) => {
    const area = areaOf(seconds);
    const blocks = Array.from({ length: blockCount(area.pcm.sampleCount) }, (_, block) => block);
    for (const operation of ["detectBlock", "embedBlock"] as const) {
      const parts = blocks.map((block) => describeWork(operation, { area, block }, onCuda).audioSeconds);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(seconds, 6);
      expect(Math.min(...parts)).toBeGreaterThanOrEqual(0);
    }
  });

  test("is counted for the GPU in speech recognition, and for the CPU in speech detection and speaker diarization", () => {
    const area = areaOf(10);
    const span = { startSeconds: 2, endSeconds: 7.5 };
    expect(
      describeWork("transcribe", { area, chunk: { ...span, speech: [span] }, language: "en", model: "/" }, onCuda),
    ).toEqual({
      step: "transcribe",
      device: "cuda",
      gpu: "CUDA1",
      audioSeconds: 5.5,
    });
    expect(
      describeWork(
        "detectLanguage",
        { area, chunk: { ...span, speech: [span] }, model: "/" },
        { ...onCuda, speechDevice: "vulkan", gpu: "Vulkan0" },
      ),
    ).toEqual({
      step: "language",
      device: "vulkan",
      gpu: "Vulkan0",
      audioSeconds: 5.5,
    });
    const onCpu = { device: "cpu", gpu: "" };
    const block = { area, block: 0 };
    expect(describeWork("detectBlock", block, onCuda)).toEqual({ step: "detect", ...onCpu, audioSeconds: 10 });
    expect(describeWork("embedBlock", block, onCuda)).toEqual({ step: "diarize", ...onCpu, audioSeconds: 10 });
    const spans = [span, { startSeconds: 8, endSeconds: 9 }];
    expect(describeWork("detectSpeech", { area, endSample: 7 }, onCuda)).toEqual({
      step: "live_detect",
      ...onCpu,
      audioSeconds: 5,
    });
    expect(describeWork("detectLiveLanguage", { area, span, model: "/" }, onCuda)).toEqual({
      step: "live_language",
      device: "cuda",
      gpu: "CUDA1",
      audioSeconds: 5.5,
    });
    expect(describeWork("embedSpeech", { area, spans }, onCuda)).toEqual({
      step: "live_diarize",
      ...onCpu,
      audioSeconds: 6.5,
    });
    expect(describeWork("transcribeLive", { area, span, language: "en", model: "/" }, onCuda)).toEqual({
      step: "live_transcribe",
      device: "cuda",
      gpu: "CUDA1",
      audioSeconds: 5.5,
    });
    const chunk = { ...span, speech: [span] };
    expect(describeWork("translate", { area, chunk, language: "de", model: "/" }, onCuda)).toEqual({
      step: "translate",
      device: "cuda",
      gpu: "CUDA1",
      audioSeconds: 5.5,
    });
    expect(describeWork("clusterSpeakers", { area }, onCuda)).toEqual({ step: "diarize", ...onCpu, audioSeconds: 0 });
  });
});
