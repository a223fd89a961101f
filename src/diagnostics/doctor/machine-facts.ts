import { existsSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type ControlGroupSource, usableProcessors } from "../../machine/index.ts";
import type { CheckContext } from "./check.ts";
import type { Machine } from "./machine.ts";

/** Returns the deepest existing part of a path, with links resolved. */
export function existingPart(path: string): string {
  let part = resolve(path);
  while (!existsSync(part) && dirname(part) !== part) part = dirname(part);
  try {
    return realpathSync(part);
  } catch {
    return part;
  }
}

/**
 * Returns the control groups of the running server, which limit its memory and processors. If there is no server, or
 * this user may not see its process, those of this command are read: in a container they are the same.
 */
export function controlGroupsOf({ machine, server }: Pick<CheckContext, "machine" | "server">): ControlGroupSource {
  const isVisible = server !== null && machine.read(`/proc/${server.pid}/cgroup`) !== null;
  return { read: machine.read, process: isVisible ? server.pid : "self" };
}

/** Returns the number of computing threads of the server. */
export function threadsOf(context: Pick<CheckContext, "machine" | "server" | "settings">): number {
  return context.settings.engine.threads || usableProcessors(controlGroupsOf(context), context.machine.processors);
}

interface Gpu {
  /** PCI address, e.g. 0000:01:00.0 */
  readonly address: string;
  readonly vendor: "NVIDIA" | "AMD" | "Intel";
  /** Kernel driver bound to the GPU; null if there is none. */
  readonly driver: string | null;
}

const vendors: Readonly<Record<string, Gpu["vendor"]>> = { "0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel" };

/**
 * Returns the display and compute controllers of vendors whose GPUs can compute. The simple graphics chip of a server
 * is not included.
 */
export function findGpus(machine: Machine): Gpu[] {
  const root = "/sys/bus/pci/devices";
  return machine.list(root).flatMap((address): Gpu[] => {
    const isDisplay = /^0x(03|12)/.test(machine.read(`${root}/${address}/class`) ?? "");
    const vendor = vendors[machine.read(`${root}/${address}/vendor`)?.trim() ?? ""];
    if (!isDisplay || vendor === undefined) return [];
    const driver = /^DRIVER=(.+)$/m.exec(machine.read(`${root}/${address}/uevent`) ?? "")?.[1] ?? null;
    return [{ address, vendor, driver }];
  });
}
