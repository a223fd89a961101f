import { expect, test } from "bun:test";
import { GpuFallback } from "../../src/devices/gpu-fallback.ts";
import type { UnexpectedExit } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

const killed = { exitCode: null, signal: "SIGKILL" };
const shortOfMemory: UnexpectedExit = { ...killed, gpuFailure: { message: "out of memory", outOfMemory: true } };
const lost: UnexpectedExit = { ...killed, gpuFailure: { message: "device lost", outOfMemory: false } };
const stalled: UnexpectedExit = { ...killed, stalled: true };
const crashed: UnexpectedExit = { exitCode: null, signal: "SIGABRT" };

/** Returns which of these GPUs are used. */
function used(fallback: GpuFallback, ...gpus: string[]): string[] {
  return gpus.filter(fallback.allows).map((gpu) => `${gpu} ${fallback.lanesOf(gpu)}`);
}

/** Returns the GPU in use after each exit of its worker, on a machine with one GPU and both backends. */
function after(...deaths: UnexpectedExit[]): (string | null)[] {
  const fallback = new GpuFallback(createLogger("silent"));
  const next = () => used(fallback, "CUDA0", "Vulkan0")[0] ?? null;
  return [
    next(),
    ...deaths.map((death) => {
      const gpu = next()?.split(" ")[0];
      fallback.after({ ...death, ...(gpu === undefined ? {} : { gpu }) });
      return next();
    }),
  ];
}

test.each<[string, UnexpectedExit[], (string | null)[]]>([
  [
    "memory that is short has less done at once, once, and then the next one do it",
    [shortOfMemory, shortOfMemory],
    ["CUDA0 5", "CUDA0 2", "Vulkan0 5"],
  ],
  [
    "the next one, too, may do less before the CPU does all",
    [shortOfMemory, shortOfMemory, shortOfMemory, shortOfMemory, shortOfMemory],
    ["CUDA0 5", "CUDA0 2", "Vulkan0 5", "Vulkan0 2", null, null],
  ],
  ["a device that is lost makes room for the next one at once", [lost, lost], ["CUDA0 5", "Vulkan0 5", null]],
  ["a worker that comes to no end, too", [stalled], ["CUDA0 5", "Vulkan0 5"]],
  ["one that crashes may have been short of memory", [crashed, crashed], ["CUDA0 5", "CUDA0 2", "Vulkan0 5"]],
  [
    "one that somebody killed says nothing of the GPU",
    [killed, killed, killed],
    ["CUDA0 5", "CUDA0 5", "CUDA0 5", "CUDA0 5"],
  ],
  ["an illegal instruction is the CPU variant's", [{ exitCode: null, signal: "SIGILL" }], ["CUDA0 5", "CUDA0 5"]],
])("%s", (_, deaths, expected) => {
  expect(after(...deaths)).toEqual(expected);
});

test("a GPU runs as many operations as were measured or set, and fewer after a failure", () => {
  const fallback = new GpuFallback(createLogger("silent"));
  expect([fallback.lanesOf("CUDA0", 16), fallback.lanesOf("CUDA0", 1), fallback.lanesOf("CUDA0")]).toEqual([16, 1, 5]);
  fallback.after({ ...shortOfMemory, gpu: "CUDA0" });
  expect([fallback.lanesOf("CUDA0", 16), fallback.lanesOf("CUDA0", 1)]).toEqual([2, 1]);
});

test("a failure of one GPU does not affect the others", () => {
  const fallback = new GpuFallback(createLogger("silent"));
  const all = ["CUDA0", "CUDA1", "CUDA2"];
  fallback.after({ ...shortOfMemory, gpu: "CUDA1" });
  expect(used(fallback, ...all)).toEqual(["CUDA0 5", "CUDA1 2", "CUDA2 5"]);
  fallback.after({ ...lost, gpu: "CUDA0" });
  expect(used(fallback, ...all)).toEqual(["CUDA1 2", "CUDA2 5"]);
  fallback.after(crashed);
  expect(used(fallback, ...all)).toEqual(["CUDA1 2", "CUDA2 5"]);
});

test.each<[string, UnexpectedExit]>([
  ["crashes", crashed],
  ["comes to no end", stalled],
])("an exit without a GPU's part that %s does not blame the GPU", (_, death) => {
  const fallback = new GpuFallback(createLogger("silent"));
  for (let times = 0; times < 3; times++)
    fallback.after({ ...death, gpu: "CUDA0", running: { speech: [], others: [7, 8] } });
  expect(used(fallback, "CUDA0")).toEqual(["CUDA0 5"]);
});

test("a GPU is used again when another cause of each of its failures is found", () => {
  const fallback = new GpuFallback(createLogger("silent"));
  const all = ["CUDA0", "CUDA1"];
  fallback.after({ ...crashed, gpu: "CUDA0", running: { speech: [1], others: [7] } });
  fallback.after({ ...crashed, gpu: "CUDA0", running: { speech: [2, 3], others: [7, 9] } });
  fallback.after({ ...crashed, gpu: "CUDA1", running: { speech: [3], others: [7] } });
  fallback.after({ ...crashed, gpu: "CUDA1", running: { speech: [3], others: [9] } });
  expect(used(fallback, ...all)).toEqual([]);
  // Two at once leave it open which.
  fallback.after({ ...crashed, running: { speech: [], others: [7, 9] } });
  expect(used(fallback, ...all)).toEqual([]);
  fallback.after({ ...crashed, running: { speech: [], others: [7] } });
  expect(used(fallback, ...all)).toEqual(["CUDA0 5"]);
});

test("a GPU that reported its failure stays left out whatever else crashes", () => {
  const fallback = new GpuFallback(createLogger("silent"));
  fallback.after({ ...lost, gpu: "CUDA0", running: { speech: [1], others: [7] } });
  fallback.after({ ...crashed, running: { speech: [], others: [7] } });
  expect(used(fallback, "CUDA0")).toEqual([]);
});

test("a GPU is used again if the CPU crashes on the same chunk", () => {
  const fallback = new GpuFallback(createLogger("silent"));
  for (const beside of [1, 2])
    fallback.after({ ...crashed, gpu: "CUDA0", running: { speech: [beside, 7], others: [] } });
  expect(used(fallback, "CUDA0")).toEqual([]);
  fallback.after({ ...crashed, running: { speech: [7], others: [] } });
  expect(used(fallback, "CUDA0")).toEqual(["CUDA0 5"]);
});
