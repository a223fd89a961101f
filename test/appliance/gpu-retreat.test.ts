import { expect, test } from "bun:test";
import { GpuRetreat } from "../../src/appliance/gpu-retreat.ts";
import type { WorkerDeath } from "../../src/engine/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";

const killed = { exitCode: null, signal: "SIGKILL" };
const shortOfMemory: WorkerDeath = { ...killed, gpuFailure: { message: "out of memory", outOfMemory: true } };
const lost: WorkerDeath = { ...killed, gpuFailure: { message: "device lost", outOfMemory: false } };
const stalled: WorkerDeath = { ...killed, stalled: true };
const crashed: WorkerDeath = { exitCode: null, signal: "SIGABRT" };

/** What is used after each of the deaths, by a machine with both backends; null is the CPU. */
function after(...deaths: WorkerDeath[]): (string | null)[] {
  const retreat = new GpuRetreat(createLogger("silent"));
  const next = () => {
    const { library, lanes } = retreat.use(["cuda", "vulkan"].find(retreat.allows) ?? null);
    return library === null ? null : `${library} ${lanes}`;
  };
  return [
    next(),
    ...deaths.map((death) => {
      retreat.after(death);
      return next();
    }),
  ];
}

test.each<[string, WorkerDeath[], (string | null)[]]>([
  [
    "memory that is short has less done at once, once, and then the next one do it",
    [shortOfMemory, shortOfMemory],
    ["cuda 5", "cuda 2", "vulkan 5"],
  ],
  [
    "the next one, too, may do less before the CPU does all",
    [shortOfMemory, shortOfMemory, shortOfMemory, shortOfMemory, shortOfMemory],
    ["cuda 5", "cuda 2", "vulkan 5", "vulkan 2", null, null],
  ],
  ["a device that is lost makes room for the next one at once", [lost, lost], ["cuda 5", "vulkan 5", null]],
  ["a worker that comes to no end, too", [stalled], ["cuda 5", "vulkan 5"]],
  ["one that crashes may have been short of memory", [crashed, crashed], ["cuda 5", "cuda 2", "vulkan 5"]],
  [
    "one that somebody killed says nothing of the GPU",
    [killed, killed, killed],
    ["cuda 5", "cuda 5", "cuda 5", "cuda 5"],
  ],
  ["an illegal instruction is the CPU variant's", [{ exitCode: null, signal: "SIGILL" }], ["cuda 5", "cuda 5"]],
])("%s", (_, deaths, used) => {
  expect(after(...deaths)).toEqual(used);
});
