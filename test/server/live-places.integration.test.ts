import { describe, expect, test } from "bun:test";
import pino from "pino";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { programFiles } from "../../src/program/index.ts";
import { LivePlaces, placesOf } from "../../src/server/live-places.ts";

describe("the number of live sessions", () => {
  test.each([
    [2, 0.25, 3],
    [2, 0.11, 7],
    [2, 0.4, 2],
    [1, 0.25, 1],
    [2, 3, 1],
    [16, 0.07, 91],
  ])("with %d lanes and passes of %p s is %d", (lanes, passSeconds, places) => {
    expect(placesOf(lanes, passSeconds)).toBe(places);
  });
});

describe.skipIf(!available("the measurement of live sessions", ffmpegPath))("the measurement of live sessions", () => {
  test("waits until nothing else computes, takes the fastest pass, and is repeated for another model or encoder", async () => {
    using directory = temporaryDirectory();
    const passes = [4, 0.25, 0.3, 0.26, 9, 0.11, 0.12, 0.13, 0.05, 0.05, 0.05, 0.05];
    const encoders: (string | undefined)[] = [];
    let encoder: string | undefined;
    let whileTested = () => {};
    let seconds = 0;
    let isIdle = false;
    let modelPath = "/models/base.bin";
    const places = new LivePlaces({
      engine: {
        lanes: 2,
        async run(_, params) {
          encoders.push("encoder" in params ? params.encoder : undefined);
          seconds += passes.shift() ?? 0;
          return { words: [] } as never;
        },
      },
      modelPath: () => modelPath,
      encoder: async () => {
        whileTested();
        return encoder;
      },
      files: await programFiles(""),
      directory: directory.path,
      isIdle: () => isIdle,
      log: pino({ level: "silent" }),
      clock: () => seconds * 1000,
    });
    await places.measure();
    expect([places.count, passes.length]).toEqual([2, 12]);
    isIdle = true;
    await places.measure();
    await places.measure();
    expect([places.count, passes.length]).toEqual([3, 8]);
    modelPath = "/models/tiny.bin";
    await places.measure();
    expect([places.count, passes.length]).toEqual([7, 4]);
    encoder = "/encoders/tiny.onnx";
    await places.measure();
    await places.measure();
    expect([places.count, passes.length]).toEqual([16, 0]);
    // A recording arrives while an encoder is tested.
    encoder = "/encoders/other.onnx";
    whileTested = () => {
      isIdle = false;
    };
    await places.measure();
    expect(places.count).toBe(16);
    expect(encoders).toEqual([...Array(8).fill(undefined), ...Array(4).fill("/encoders/tiny.onnx")]);
  });
});
