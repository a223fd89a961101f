import { availableParallelism, freemem, totalmem } from "node:os";
import { type ControlGroupSource, cpuQuota, memoryBelowLimit, memoryLimit, ownGroups } from "./control-groups.ts";

/**
 * Returns how many processors this program may use at once: those that its affinity or cpuset allows, and no more than
 * the CPU quota of its container or service, rounded up. More threads would wait for each other, and the kernel would
 * stop all of them once the quota of a period is used up.
 * @param processors those that the affinity allows
 */
export function usableProcessors(source = ownGroups, processors = availableParallelism()): number {
  return Math.max(1, Math.min(processors, Math.ceil(cpuQuota(source) ?? processors)));
}

/** The memory of this machine, or of the container or service if that has less. */
export interface Memory {
  readonly totalBytes: number;
  /** Memory that can still be allocated. */
  readonly availableBytes: number;
  /** The limit of the container or service; null if there is none, or if the machine has less. */
  readonly limitBytes: number | null;
}

/** Returns the memory that a process can use. */
export function memoryOf(source: ControlGroupSource = ownGroups): Memory {
  const information = source.read("/proc/meminfo") ?? "";
  const bytesOf = (name: string) => {
    const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(information)?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) * 1024;
  };
  const installed = bytesOf("MemTotal") ?? totalmem();
  const limit = memoryLimit(source) ?? installed;
  const totalBytes = Math.min(installed, limit);
  const availableBytes = Math.min(
    bytesOf("MemAvailable") ?? freemem(),
    memoryBelowLimit(source) ?? totalBytes,
    totalBytes,
  );
  return { totalBytes, availableBytes, limitBytes: limit < installed ? limit : null };
}
