export { type ControlGroupSource, cpuQuota, memoryKills } from "./control-groups.ts";
export { type Mount, mountOf, readMounts } from "./mounts.ts";
export { type Memory, memoryOf, usableProcessors } from "./resources.ts";
