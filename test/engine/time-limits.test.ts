import { describe, expect, test } from "bun:test";
import { ftruncateSync, openSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Operation, TimeLimits } from "../../src/engine/time-limits.ts";

const areaOf = (seconds: number) => ({ directory: "/", pcm: { path: "/", sampleCount: seconds * 16_000 } });
const span = { startSeconds: 0, endSeconds: 20 };

function transcribe(model = "/none", speechDevice = "cpu"): Operation {
  const params = { area: areaOf(60), chunk: { ...span, speech: [span] }, language: "en", model };
  return { name: "transcribe", params, speechDevice };
}
function cluster(seconds: number): Operation {
  const params = { area: areaOf(seconds) };
  return { name: "clusterSpeakers", params, speechDevice: "cpu" };
}

describe("the time limit of an operation", () => {
  test("is several minutes before the first measurement, so that a slow machine stays within it", () => {
    expect(new TimeLimits().of(transcribe(), false)).toBe(600);
  });

  test("is ten times the measured pace, and at least one minute", () => {
    const limits = new TimeLimits();
    limits.learn(transcribe(), 2);
    expect(limits.of(transcribe(), false)).toBe(60);
    limits.learn(transcribe(), 12);
    expect(limits.of(transcribe(), false)).toBe(120);
    limits.learn(cluster(600), 6);
    expect(limits.of(cluster(64_800), false)).toBeCloseTo(6480, 6);
  });

  test("follows a slower measurement at once and a faster one slowly", () => {
    const limits = new TimeLimits();
    for (const seconds of [10, 60, 10]) limits.learn(transcribe(), seconds);
    expect(limits.expected(transcribe())).toBeCloseTo(55, 6);
    for (let count = 0; count < 100; count++) limits.learn(transcribe(), 10);
    expect(limits.expected(transcribe())).toBeCloseTo(10, 1);
  });

  test("is learned separately for each model and device", () => {
    const limits = new TimeLimits();
    limits.learn(transcribe("/base", "cuda"), 0.2);
    expect(limits.of(transcribe("/base", "cuda"), false)).toBe(60);
    expect(limits.of(transcribe("/base", "cpu"), false)).toBe(600);
    expect(limits.of(transcribe("/large", "cuda"), false)).toBe(600);
  });

  test("includes the time to load a model, as does the limit of a start", () => {
    using directory = temporaryDirectory();
    const model = join(directory.path, "large.bin");
    ftruncateSync(openSync(model, "w"), 3_000_000_000);
    const limits = new TimeLimits();
    limits.learn(transcribe(model), 2);
    expect(limits.of(transcribe(model), false)).toBe(60);
    expect(limits.of(transcribe(model), true)).toBe(360);
    const [path, none] = ["/", { cpuLibrary: "/", threads: 1, speechThreads: 1, lanes: 1 }];
    const files = { nativeDirectory: path, onnxBinding: path, segmentationModel: path, embeddingModel: path };
    expect(limits.ofStart({ type: "start", ...none, ...files, speechModel: model })).toBe(600);
  });

  test("does not depend on a model file that cannot be read; the worker reports that", () => {
    using directory = temporaryDirectory();
    const loop = join(directory.path, "loop");
    symlinkSync(loop, loop);
    for (const model of [loop, join(loop, "below"), join(directory.path, "missing")]) {
      expect(new TimeLimits().of(transcribe(model), true)).toBe(600);
    }
  });
});
