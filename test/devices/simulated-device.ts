/**
 * A worker that simulates a device, for tests of the measurement of lanes. Its argument is a `SimulatedDevice` as JSON.
 * It speaks the real protocol, computes nothing, answers at once, and really crashes. Its operations take simulated time,
 * so that a busy machine changes no measurement.
 */
import { appendFileSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";

export interface SimulatedDevice {
  /** File to which each worker appends its number of lanes, and after a slash that of its slots, if it has any. */
  readonly log: string;
  /** File with the milliseconds of simulated time in which the last worker computed. */
  readonly clock: string;
  /** Time of an operation while at most `capacity` run at once, in milliseconds. */
  readonly latency: number;
  readonly capacity: number;
  /** How much slower each operation becomes beyond the capacity: 1 keeps the throughput, more lowers it. */
  readonly exponent: number;
  /** Number of lanes whose first worker never answers. */
  readonly hangsFirstAt?: number;
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
  let hangs = false;
  let now = 0;
  const clock = openSync(device.clock, "w");
  process.on("disconnect", () => process.exit(0));
  process.on(
    "message",
    (message: { readonly type: string; readonly id: number; readonly lanes: number; slots?: number }) => {
      if (message.type === "start") {
        ({ lanes, slots = 1 } = message);
        const before = existsSync(device.log) ? readFileSync(device.log, "utf8").split("\n") : [];
        hangs = lanes === device.hangsFirstAt && !before.includes(String(lanes));
        appendFileSync(device.log, `${lanes}${slots > 1 ? `/${slots}` : ""}\n`);
        process.send?.({ type: "ready", cpuVariant: "simulated", devices: [], speechDevice: "vulkan" });
        process.send?.({ type: "gpuMemory", memory: { freeBytes: totalBytes - lanes * laneBytes, totalBytes } });
      }
      if (message.type !== "run" || hangs) return;
      if (lanes >= (device.crashesFrom ?? Number.POSITIVE_INFINITY)) process.kill(process.pid, "SIGSEGV");
      if (slots >= crashesFromSlots) process.kill(process.pid, "SIGSEGV");
      const slowdown = Math.max(1, lanes / (slots > 1 ? slotCapacity : device.capacity)) ** device.exponent;
      // All lanes are busy, so each operation adds its share of their time.
      now += (device.latency * slowdown) / lanes;
      writeSync(clock, now.toFixed(6).padStart(20), 0);
      process.send?.({ type: "done", id: message.id, result: { words: [], languages: {} } });
    },
  );
}
