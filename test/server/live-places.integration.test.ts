import { describe, expect, test } from "bun:test";
import pino from "pino";
import { available, ffmpegPath } from "../../harness/checkout.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { programFiles } from "../../src/program/index.ts";
import { LivePlaces, placesOf } from "../../src/server/live-places.ts";

describe("the number of live sessions", () => {
  test.each([
    [2, 0.25, 2],
    [2, 0.11, 5],
    [2, 0.4, 1],
    [1, 0.25, 1],
    [2, 3, 1],
    [16, 0.07, 68],
  ])("with %d lanes and passes of %p s is %d", (lanes, passSeconds, places) => {
    expect(placesOf(lanes, passSeconds)).toBe(places);
  });
});

describe.skipIf(!available("the measurement of live sessions", ffmpegPath))("the measurement of live sessions", () => {
  test("waits until nothing else computes, takes the fastest pass, and is repeated for another model", async () => {
    using directory = temporaryDirectory();
    const passes = [4, 0.25, 0.3, 0.26, 9, 0.11, 0.12, 0.13];
    let seconds = 0;
    let isIdle = false;
    let modelPath = "/models/base.bin";
    const places = new LivePlaces({
      engine: {
        lanes: 2,
        async run() {
          seconds += passes.shift() ?? 0;
          return { words: [] } as never;
        },
      },
      modelPath: () => modelPath,
      files: await programFiles(""),
      directory: directory.path,
      isIdle: () => isIdle,
      log: pino({ level: "silent" }),
      clock: () => seconds * 1000,
    });
    await places.measure();
    expect([places.count, passes.length]).toEqual([2, 8]);
    isIdle = true;
    await places.measure();
    await places.measure();
    expect([places.count, passes.length]).toEqual([2, 4]);
    modelPath = "/models/tiny.bin";
    await places.measure();
    expect([places.count, passes.length]).toEqual([5, 0]);
  });
});
