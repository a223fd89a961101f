import type { Machine } from "./machine.ts";

export interface Gpu {
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
