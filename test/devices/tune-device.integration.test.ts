import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { slotsWith, type Tuning } from "../../src/devices/lane-shares.ts";
import { type TuneOptions, tuneDevice } from "../../src/devices/tune-device.ts";
import { Tuner } from "../../src/devices/tuner.ts";
import { currentTunings, readTuning, sharesOf, storeTuning } from "../../src/devices/tunings.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { scriptedStart } from "../support/scripted-start.ts";
import type { SimulatedDevice } from "./simulated-device.ts";

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
  writeFileSync(file("model"), "weights");
  writeFileSync(file("sample.pcm"), new Uint8Array(32_000));
});
afterEach(() => directory[Symbol.dispose]());

const file = (name: string) => join(directory.path, name);
const gpu = { library: "libggml-vulkan.so", label: "Vulkan0", name: "a GPU", environment: {} };
const onGpu = (changes = {}) => ({
  start: { ...scriptedStart, speechModel: file("model"), lanes: 5, gpu: { ...gpu, ...changes } },
  threads: 8,
});

/** A device whose operations take the same time up to a number of lanes, and which cannot decode texts together. */
const latencyBound: Omit<SimulatedDevice, "log" | "clock"> = {
  latency: 40,
  capacity: 6,
  exponent: 2.2,
  crashesFromSlots: 4,
};
const withSlots = { crashesFromSlots: 100 };

function optionsFor(device: Partial<SimulatedDevice> = {}): TuneOptions {
  const simulated: SimulatedDevice = { ...latencyBound, log: file("lanes"), clock: file("clock"), ...device };
  return {
    command: [process.execPath, join(import.meta.dir, "simulated-device.ts"), JSON.stringify(simulated)],
    verdictsPath: file("devices.json"),
    withSample: (use) => use(file("sample.pcm")),
    log: createLogger("silent"),
    signal: new AbortController().signal,
    minSeconds: 0.2,
    now: () => Number(readFileSync(file("clock"), "utf8")),
  };
}

const tried = () => (existsSync(file("lanes")) ? readFileSync(file("lanes"), "utf8").split("\n").slice(0, -1) : []);

/** Returns the numbers of lanes of the workers so far whose operations decoded alone. */
const lanesTried = () =>
  tried()
    .filter((each) => !each.includes("/"))
    .map(Number);

/** Returns lanes and slots of the other workers, such as 8/8. */
const slotsTried = () => tried().filter((each) => each.includes("/"));

const measuredSlots = { lanes: 8, threads: 1, slots: 8 };

describe("the measurement of lanes", () => {
  test("finds the lanes that a device with slow steps needs, and stops when more are slower", async () => {
    const tuning = await tuneDevice(onGpu(), optionsFor());
    expect(sharesOf(tuning)).toMatchObject({ lanes: 6, threads: 1, speed: expect.any(Number) });
    expect(lanesTried()).toEqual([1, 2, 3, 4, 6, 8, 12]);
    // 22 s of audio in 40 ms with one lane.
    expect(tuning.measured[0]?.speed).toBeCloseTo(550, 2);
    // The next start uses the stored result.
    expect(readTuning(file("devices.json"), onGpu())).toEqual(tuning);
    expect(await tuneDevice(onGpu(), optionsFor())).toEqual(tuning);
    expect(lanesTried()).toHaveLength(7);
  }, 30_000);

  test("writes its recording next to the sample, and removes it", async () => {
    const before = readdirSync(directory.path);
    const during: string[] = [];
    const onMeasured = () => during.push(...readdirSync(directory.path));
    await tuneDevice(onGpu(), { ...optionsFor({ latency: 15, capacity: 1 }), onMeasured });
    expect(during).toContain("chunks.pcm");
    expect(before).toContain("sample.pcm");
    expect(readdirSync(directory.path).toSorted()).toEqual([...before, "clock", "devices.json", "lanes"].toSorted());
  }, 30_000);

  test("leaves one lane to a device that becomes slower with more", async () => {
    const tuning = await tuneDevice(onGpu(), optionsFor({ latency: 15, capacity: 1 }));
    expect(sharesOf(tuning)).toMatchObject({ lanes: 1, threads: 8 });
    expect(lanesTried()).toEqual([1, 2, 3]);
  }, 30_000);

  test("adds no lanes for which the GPU's memory does not suffice", async () => {
    const tuning = await tuneDevice(
      onGpu(),
      optionsFor({ latency: 40, capacity: 16, laneBytes: 120, totalBytes: 1000 }),
    );
    // Eight lanes would take 960 of 1000, and a tenth stays free.
    expect(lanesTried()).toEqual([1, 2, 3, 4, 6]);
    expect(sharesOf(tuning)).toMatchObject({ lanes: 6 });
    expect(tuning.failed).toBeUndefined();
  }, 30_000);

  test("is left out if the GPU has no memory for a second worker", async () => {
    const options = optionsFor();
    const tuning = await tuneDevice(onGpu(), { ...options, gpuMemory: { freeBytes: 0.9e9, totalBytes: 4e9 } });
    expect([tuning.isComplete, sharesOf(tuning), lanesTried()]).toEqual([true, null, []]);
  });

  test("marks lanes that crash the worker, and never tries them again", async () => {
    const tuning = await tuneDevice(onGpu(), optionsFor({ crashesFrom: 3 }));
    expect(tuning.failed).toMatchObject({ lanes: 3, reason: "the worker exited with SIGSEGV" });
    expect(sharesOf(tuning)).toMatchObject({ lanes: 2 });
    expect(lanesTried()).toEqual([1, 2, 3]);
    await tuneDevice(onGpu(), optionsFor());
    expect(lanesTried()).toEqual([1, 2, 3]);
  }, 30_000);

  test("does not repeat lanes during which the program or the machine ended", async () => {
    const unfinished: Tuning = {
      ...readTuning(file("devices.json"), onGpu()),
      measured: [1, 2, 3, 4].map((lanes) => ({ lanes, threads: 1, speed: 100 * lanes })),
      trying: { lanes: 8, threads: 1 },
    };
    storeTuning(file("devices.json"), unfinished);
    const tuning = await tuneDevice(onGpu(), optionsFor());
    expect(tuning).toMatchObject({ isComplete: true, failed: { lanes: 8 } });
    expect(tuning.trying).toBeUndefined();
    expect(lanesTried()).toEqual([6]);
  });

  test("repeats few lanes during which the program was killed, because a server runs as many unmeasured", async () => {
    const none = readTuning(file("devices.json"), onGpu());
    storeTuning(file("devices.json"), { ...none, trying: { lanes: 1, threads: 8 } });
    expect((await tuneDevice(onGpu(), optionsFor({ latency: 15, capacity: 1 }))).failed).toBeUndefined();
    expect(lanesTried()).toEqual([1, 2, 3]);
  }, 30_000);

  test("decodes as many operations together as are fastest", async () => {
    const tuning = await tuneDevice(
      onGpu(),
      optionsFor({ ...withSlots, latency: 10, capacity: 2, exponent: 2, slotCapacity: 8 }),
    );
    expect(slotsTried()).toEqual(["4/4", "8/8", "16/16", "32/32"]);
    expect(sharesOf(tuning)).toMatchObject({ lanes: 8, threads: 1, slots: 8 });
    expect(readTuning(file("devices.json"), onGpu())).toEqual(tuning);
    const before = tried().length;
    expect(await tuneDevice(onGpu(), optionsFor())).toEqual(tuning);
    expect(tried()).toHaveLength(before);
  }, 60_000);

  test("lets each operation decode alone on a device that gains nothing from slots", async () => {
    const tuning = await tuneDevice(onGpu(), optionsFor({ ...withSlots, latency: 10, capacity: 2, exponent: 1.5 }));
    expect(slotsTried()).toEqual(["4/4", "8/8", "16/16"]);
    expect(sharesOf(tuning)?.slots).toBeUndefined();
    expect(sharesOf(tuning)).toMatchObject({ lanes: 2 });
  }, 30_000);

  test("marks slots that crash the worker, keeps the lanes, and never tries them again", async () => {
    const device = { latency: 15, capacity: 2, exponent: 3, slotCapacity: 16, crashesFromSlots: 8 };
    const tuning = await tuneDevice(onGpu(), optionsFor(device));
    expect(tuning.failed).toBeUndefined();
    expect(tuning.failedSlots).toMatchObject({ lanes: 8, slots: 8, reason: "the worker exited with SIGSEGV" });
    expect(sharesOf(tuning)).toMatchObject({ lanes: 4, slots: 4 });
    expect(slotsTried()).toEqual(["4/4", "8/8"]);
    const { isComplete: _, ...unfinished } = tuning;
    storeTuning(file("devices.json"), { ...unfinished, isComplete: false });
    await tuneDevice(onGpu(), optionsFor(device));
    expect(slotsTried()).toEqual(["4/4", "8/8"]);
  }, 30_000);

  test("does not repeat slots during which the program or the machine ended", async () => {
    const none = readTuning(file("devices.json"), onGpu());
    const measured = [1, 2, 3, 4].map((lanes) => ({ lanes, threads: 1, speed: lanes < 3 ? 100 * lanes : 100 }));
    storeTuning(file("devices.json"), { ...none, measured, trying: { lanes: 4, threads: 1, slots: 4 } });
    const tuning = await tuneDevice(onGpu(), optionsFor());
    expect([tuning.isComplete, tuning.failed, tuning.failedSlots?.slots]).toEqual([true, undefined, 4]);
    expect([tried(), sharesOf(tuning)?.lanes]).toEqual([[], 2]);
  });

  test.each([
    [8, measuredSlots, { lanes: 0, decoderSlots: 0 }, 8],
    [2, measuredSlots, { lanes: 0, decoderSlots: 0 }, 1],
    [8, measuredSlots, { lanes: 8, decoderSlots: 0 }, 1],
    [5, null, { lanes: 0, decoderSlots: 0 }, 1],
    [5, null, { lanes: 0, decoderSlots: 2 }, 2],
    [2, measuredSlots, { lanes: 2, decoderSlots: 4 }, 2],
    [8, measuredSlots, { lanes: 0, decoderSlots: 1 }, 1],
  ])("decides with %d lanes, measured %p and the settings %p for %d slots", (lanes, measured, settings, slots) => {
    expect(slotsWith(lanes, measured, settings)).toBe(slots);
  });

  test("divides the threads of a large CPU, and measures nothing on a small one", async () => {
    const { gpu: _, ...start } = onGpu().start;
    const none = await tuneDevice({ start, threads: 4 }, optionsFor());
    expect([sharesOf(none), lanesTried()]).toEqual([null, []]);
    const tuning = await tuneDevice({ start, threads: 8 }, optionsFor({ latency: 20, capacity: 2, exponent: 2 }));
    expect(tuning.measured.map(({ lanes, threads }) => [lanes, threads])).toEqual([
      [1, 8],
      [2, 4],
      [4, 2],
      [8, 1],
    ]);
    expect(sharesOf(tuning)).toMatchObject({ lanes: 2, threads: 4 });
  }, 30_000);

  test("is repeated with another device, driver, backend, model, number of threads or version", () => {
    const verdictsPath = file("devices.json");
    const library = file("libggml-cuda.so");
    writeFileSync(library, "a backend");
    const device = onGpu({ library });
    const isMeasured = (other = device) => readTuning(verdictsPath, other).isComplete;
    const store = (changes: Partial<Tuning> = {}) =>
      storeTuning(verdictsPath, { ...readTuning(verdictsPath, device), isComplete: true, ...changes });
    store({ version: "0.0.1" });
    expect(isMeasured()).toBe(false);
    store();
    expect(isMeasured()).toBe(true);
    expect(readFileSync(verdictsPath, "utf8")).not.toContain("0.0.1");
    expect(isMeasured(onGpu({ library, name: "another GPU" }))).toBe(false);
    expect(isMeasured(onGpu())).toBe(false);
    expect(isMeasured({ ...device, threads: 4 })).toBe(false);
    // A second GPU of the same kind needs no measurement of its own.
    expect(isMeasured(onGpu({ library, label: "CUDA1" }))).toBe(true);
    for (const path of [library, file("model")]) {
      writeFileSync(path, "of a later release");
      expect([isMeasured(), currentTunings(verdictsPath, file("model"), 8)]).toEqual([false, []]);
      store();
      expect(isMeasured()).toBe(true);
    }
    const { GGML_VK_VISIBLE_DEVICES: before } = process.env;
    // Stands for a driver, which this machine may not have.
    process.env.GGML_VK_VISIBLE_DEVICES = "7";
    expect(isMeasured()).toBe(false);
    if (before === undefined) delete process.env.GGML_VK_VISIBLE_DEVICES;
    else process.env.GGML_VK_VISIBLE_DEVICES = before;
    expect(currentTunings(verdictsPath, file("model"), 8)).toHaveLength(1);
    expect(currentTunings(verdictsPath, file("model"), 4)).toEqual([]);
  });
});

describe("the tuner", () => {
  /** Returns a tuner of one device with slow operations, and promises of what it does. */
  function tunerOf(device: Partial<SimulatedDevice> = {}, isBusy = () => false) {
    const tuned = Promise.withResolvers<void>();
    const { signal: _, ...options } = optionsFor(device);
    let runs = 0;
    const tuner = new Tuner({
      ...options,
      isBusy,
      gpuMemoryOf: () => null,
      encoderOf: async () => null,
      onTuned: () => tuned.resolve(),
      log: createLogger("silent"),
      idleMilliseconds: 20,
      tune: (which, given) => {
        runs += 1;
        return tuneDevice(which, { ...options, ...given, minSeconds: 0.05 });
      },
    });
    return { tuner, tuned: tuned.promise, runs: () => runs };
  }

  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await Bun.sleep(5);
  }

  test("measures in idle time, and ends at once when there is work", async () => {
    const { tuner, tuned, runs } = tunerOf({ latency: 30, capacity: 2, exponent: 3, hangsFirstAt: 2 });
    tuner.use([onGpu()]);
    await until(() => lanesTried().length === 2);
    tuner.interrupt();
    // Its operations never end by themselves.
    await tuner.idle();
    const { trying, measured, failed, isComplete } = readTuning(file("devices.json"), onGpu());
    expect([trying, failed, isComplete]).toEqual([undefined, undefined, false]);
    expect(measured.map(({ lanes }) => lanes)).toEqual([1]);
    await tuned;
    // It continues with the interrupted number.
    expect(lanesTried()).toEqual([1, 2, 2, 3, 4]);
    const tuning = readTuning(file("devices.json"), onGpu());
    expect(tuning.isComplete).toBe(true);
    expect(sharesOf(tuning)).toMatchObject({ lanes: 2 });
    // Later work and idle time start no other measurement.
    tuner.interrupt();
    await Bun.sleep(60);
    expect(runs()).toBe(2);
    await tuner.close();
  }, 30_000);

  test("waits while the engine is busy", async () => {
    let isBusy = true;
    const { tuner, tuned, runs } = tunerOf({ latency: 1, capacity: 1, exponent: 3 }, () => isBusy);
    tuner.use([onGpu()]);
    await Bun.sleep(100);
    expect(runs()).toBe(0);
    isBusy = false;
    await tuned;
    await tuner.close();
  }, 30_000);

  test("changes nothing if the lanes in use are the best", async () => {
    const device = onGpu();
    const { tuner, tuned, runs } = tunerOf({ latency: 1, capacity: 1, exponent: 3 });
    tuner.use([{ ...device, start: { ...device.start, lanes: 1 } }]);
    await until(() => runs() === 1 && readTuning(file("devices.json"), device).isComplete);
    await tuner.idle();
    expect(await Promise.race([tuned.then(() => "renewed"), Bun.sleep(50)])).toBeUndefined();
    await tuner.close();
  }, 30_000);

  test("leaves a small CPU alone", async () => {
    const { gpu: _, ...start } = onGpu().start;
    const { tuner, runs } = tunerOf();
    tuner.use([{ start, threads: 2 }]);
    await Bun.sleep(60);
    expect([runs(), existsSync(file("devices.json"))]).toEqual([0, false]);
    await tuner.close();
  });

  test("kills its worker when it is closed", async () => {
    const { tuner } = tunerOf({ hangsFirstAt: 1 });
    tuner.use([onGpu()]);
    await until(() => lanesTried().length === 1);
    await tuner.close();
    expect(readTuning(file("devices.json"), onGpu())).toMatchObject({ measured: [], isComplete: false });
  }, 30_000);
});
