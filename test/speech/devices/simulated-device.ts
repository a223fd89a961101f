/**
 * A worker that simulates a device, for tests of the measurement of lanes. Its argument is a `SimulatedDevice` as JSON.
 * It speaks the real protocol, computes nothing, and really crashes.
 */
import { appendFileSync } from "node:fs";

export interface SimulatedDevice {
  /** File to which each worker appends its number of lanes, and after a slash that of its slots, if it has any. */
  readonly log: string;
  /** Time of an operation while at most `capacity` run at once, in milliseconds. */
  readonly latency: number;
  readonly capacity: number;
  /** How much slower each operation becomes beyond the capacity: 1 keeps the throughput, more lowers it. */
  readonly exponent: number;
  /** Number of lanes from which the worker crashes. */
  readonly crashesFrom?: number;
  /** Number of operations at once that takes no longer if their texts are decoded together; by default `capacity`. */
  readonly slotCapacity?: number;
  /** Number of slots from which the worker crashes. */
  readonly crashesFromSlots?: number;
  /** Memory of each lane, and of the device. */
  readonly laneBytes?: number;
  readonly totalBytes?: number;
}

if (import.meta.main) {
  const device: SimulatedDevice = JSON.parse(process.argv[2] ?? "");
  const { laneBytes = 1, totalBytes = 1000 } = device;
  const { slotCapacity = device.capacity, crashesFromSlots = Number.POSITIVE_INFINITY } = device;
  let lanes = 1;
  let slots = 1;
  process.on("disconnect", () => process.exit(0));
  process.on(
    "message",
    (message: { readonly type: string; readonly id: number; readonly lanes: number; slots?: number }) => {
      if (message.type === "start") {
        ({ lanes, slots = 1 } = message);
        appendFileSync(device.log, `${lanes}${slots > 1 ? `/${slots}` : ""}\n`);
        process.send?.({ type: "ready", cpuVariant: "simulated", devices: [], speechDevice: "vulkan" });
        process.send?.({ type: "gpuMemory", memory: { freeBytes: totalBytes - lanes * laneBytes, totalBytes } });
      }
      if (message.type !== "run") return;
      if (lanes >= (device.crashesFrom ?? Number.POSITIVE_INFINITY)) process.kill(process.pid, "SIGSEGV");
      if (slots >= crashesFromSlots) process.kill(process.pid, "SIGSEGV");
      const slowdown = Math.max(1, lanes / (slots > 1 ? slotCapacity : device.capacity)) ** device.exponent;
      const answer = { type: "done", id: message.id, result: { words: [], languages: {} } };
      setTimeout(() => process.send?.(answer), device.latency * slowdown);
    },
  );
}
