/** Selection of the devices that really work on this machine, by self-tests in processes that may crash. */

export {
  chooseCpuLibraryFor,
  NoCpuLibraryError,
  requireCpuVariant,
  surveyCpuLibraries,
} from "./cpu-libraries.ts";
export { isGpuWithinReach } from "./gpu-presence.ts";
export { GpuTester } from "./gpu-self-test.ts";
export { describeKernels } from "./kernels.ts";
export { inSlots } from "./lane-shares.ts";
export { listGpus } from "./list-gpus.ts";
export { memoryNeed } from "./memory-need.ts";
export { computeOptions } from "./prepare-worker.ts";
export { runSelfTest } from "./run-self-test.ts";
export { cpuLimit } from "./speaker-workers.ts";
export { SpeechEngine, type SpeechEngineOptions } from "./speech-engine.ts";
export { tuneDevices } from "./tune-devices.ts";
export { currentTunings, sharesOf } from "./tunings.ts";
export { areVerdicts } from "./verdicts.ts";
