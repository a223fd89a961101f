import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { workerPreparation } from "../../src/devices/prepare-worker.ts";
import { devicesOf, readTuning, storeTuning } from "../../src/devices/tunings.ts";
import { programFiles } from "../../src/program/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { canTranscribe } from "../support/whisper.ts";

const never = new AbortController().signal;

describe.skipIf(!canTranscribe("the preparation of a worker"))("the preparation of a worker", () => {
  test("uses the measured lanes of this machine, and a setting overrides them", async () => {
    using directory = temporaryDirectory();
    const verdictsPath = join(directory.path, "devices.json");
    const cached = join(defaultCacheRoot(), "devices.json");
    if (existsSync(cached)) copyFileSync(cached, verdictsPath);
    const files = await programFiles("");
    const startWith = async (lanes: number, threads = 8, slots = 0, runsOneAtOnce = () => false) => {
      const [start, ...others] = await workerPreparation({
        ...{
          files,
          threads,
          lanes,
          decoderSlots: slots,
          verdictsPath,
          device: "cpu",
          cpuVariant: "auto",
          cudaLibrary: "",
          log: createLogger("silent"),
          runsOneAtOnce,
        },
        speechModels: () => [files.speechModel],
        withSample: () => Promise.reject(new Error("no sample is needed")),
      })(null, never);
      expect(others).toEqual([]);
      return start;
    };
    const unmeasured = await startWith(0);
    expect(unmeasured).toMatchObject({ lanes: 4, threads: 2, speechThreads: 2 });
    expect(unmeasured.role).toBeUndefined();
    const [device] = devicesOf([unmeasured], 8);
    if (device === undefined) throw new Error("the CPU is a device");
    const measured = [
      { lanes: 4, threads: 2, speed: 30 },
      { lanes: 8, threads: 1, speed: 40 },
    ];
    storeTuning(verdictsPath, { ...readTuning(verdictsPath, device), measured });
    expect(await startWith(0)).toMatchObject({ lanes: 4 });
    storeTuning(verdictsPath, { ...readTuning(verdictsPath, device), measured, isComplete: true });
    expect(await startWith(0)).toMatchObject({ lanes: 8, threads: 1, speechThreads: 1 });
    expect(await startWith(2)).toMatchObject({ lanes: 2, threads: 4, speechThreads: 4 });
    expect(await startWith(0, 2)).toMatchObject({ lanes: 2, threads: 1 });
    // After the kernel ended a worker for lack of memory, one operation has all threads.
    expect(await startWith(4, 8, 0, () => true)).toMatchObject({ lanes: 1, threads: 8, speechThreads: 8 });
    // A CPU has no slots.
    expect((await startWith(0, 8, 4)).slots).toBeUndefined();
  }, 120_000);
});
