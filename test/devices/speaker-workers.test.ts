import { expect, test } from "bun:test";
import { cpuLimit, speakerWorkers } from "../../src/devices/speaker-workers.ts";

const GB = 1e9;
test.each<[string, number, { threads: number; gpus: number; bytes: number; speed?: number }]>([
  ["none without a GPU, where the first worker does their work", 0, { threads: 16, gpus: 0, bytes: 128 * GB }],
  ["one for each thread next to a GPU", 8, { threads: 8, gpus: 1, bytes: 128 * GB }],
  ["no more than a GPU keeps busy", 12, { threads: 64, gpus: 1, bytes: 128 * GB }],
  ["more for a faster GPU", 21, { threads: 64, gpus: 1, bytes: 128 * GB, speed: 1010 }],
  [
    "as many for a slower one, so that one recording is detected fast",
    12,
    { threads: 64, gpus: 1, bytes: 128 * GB, speed: 140 },
  ],
  ["more for several GPUs", 24, { threads: 64, gpus: 2, bytes: 128 * GB }],
  ["as many as fit into a quarter of the memory", 4, { threads: 16, gpus: 1, bytes: 4 * GB }],
  ["none if memory is short", 0, { threads: 16, gpus: 1, bytes: 0.9 * GB }],
])("speaker workers: %s", (_, expected, { threads, gpus, bytes, speed = 0 }) => {
  expect(speakerWorkers(threads, gpus, bytes, speed).count).toBe(expected);
});

const tuning = (device: string, speed: number, isComplete = true) => ({
  ...{ device, name: device, library: "/", model: "/", threads: 8, version: "1", isComplete, measuredAt: 0 },
  measured: [{ lanes: 16, threads: 1, speed }],
});

test.each([
  [
    "a GPU that recognizes faster",
    [tuning("CUDA0", 649.4)],
    8,
    /^the CPU limits the GPU: 8 threads detect and embed about 400 times real time, the GPU recognizes 649 times$/,
  ],
  ["several GPUs", [tuning("CUDA0", 300), tuning("CUDA1", 200)], 8, /the GPU recognizes 500 times$/],
])("a CPU that keeps GPUs waiting is noted: %s", (_, tunings, threads, expected) => {
  expect(cpuLimit(tunings, threads)).toMatch(expected);
});

test.each([
  ["enough threads", [tuning("CUDA0", 649)], 16],
  ["no GPU", [tuning("CPU", 999)], 8],
  ["a measurement that is not complete", [tuning("CUDA0", 999, false)], 8],
])("a CPU that keeps up, or is not known to be slower, is not noted: %s", (_, tunings, threads) => {
  expect(cpuLimit(tunings, threads)).toBeNull();
});
