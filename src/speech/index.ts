export {
  chooseCpuLibraryFor,
  NoCpuLibraryError,
  requireCpuVariant,
  surveyCpuLibraries,
} from "./devices/cpu-libraries.ts";
export { isGpuWithinReach } from "./devices/gpu-presence.ts";
export { GpuTester } from "./devices/gpu-self-test.ts";
export { describeKernels } from "./devices/kernels.ts";
export { inSlots } from "./devices/lane-shares.ts";
export { listGpus } from "./devices/list-gpus.ts";
export { memoryNeed } from "./devices/memory-need.ts";
export { computeOptions } from "./devices/prepare-worker.ts";
export { runSelfTest } from "./devices/run-self-test.ts";
export { cpuLimit } from "./devices/speaker-workers.ts";
export { SpeechEngine, type SpeechEngineOptions } from "./devices/speech-engine.ts";
export { tuneDevices } from "./devices/tuner.ts";
export { currentTunings, sharesOf } from "./devices/tunings.ts";
export { areVerdicts } from "./devices/verdicts.ts";
export { type GpuBackend, gpuBackends } from "./ggml.ts";
export { otherLanguage, type Probabilities, sureProbability } from "./other-language.ts";
export { familyOf, type Language, type ModelSizes, readModelLanguages, validateModelFile } from "./recognizer/index.ts";
