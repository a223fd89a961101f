import { expect, test } from "bun:test";
import { speakerWorkers } from "../../../src/speech/devices/speaker-workers.ts";

const GB = 1e9;
test.each<[string, number, { threads: number; gpus: number; bytes: number }]>([
  ["none without a GPU, where the first worker does their work", 0, { threads: 16, gpus: 0, bytes: 128 * GB }],
  ["one for each thread next to a GPU", 8, { threads: 8, gpus: 1, bytes: 128 * GB }],
  ["no more than a GPU keeps busy", 12, { threads: 64, gpus: 1, bytes: 128 * GB }],
  ["more for several GPUs", 24, { threads: 64, gpus: 2, bytes: 128 * GB }],
  ["as many as fit into a quarter of the memory", 4, { threads: 16, gpus: 1, bytes: 4 * GB }],
  ["none if memory is short", 0, { threads: 16, gpus: 1, bytes: 0.9 * GB }],
])("speaker workers: %s", (_, expected, { threads, gpus, bytes }) => {
  expect(speakerWorkers(threads, gpus, bytes).count).toBe(expected);
});
