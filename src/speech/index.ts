export {
  areVerdicts,
  chooseCpuLibraryFor,
  computeOptions,
  cpuLimit,
  currentTunings,
  describeKernels,
  GpuTester,
  inSlots,
  isGpuWithinReach,
  listGpus,
  memoryNeed,
  NoCpuLibraryError,
  requireCpuVariant,
  runSelfTest,
  SpeechEngine,
  type SpeechEngineOptions,
  sharesOf,
  surveyCpuLibraries,
  tuneDevices,
} from "./devices/index.ts";
export { type GpuBackend, gpuBackends } from "./ggml.ts";
export { otherLanguage, type Probabilities, sureProbability } from "./other-language.ts";
export { familyOf, type Language, type ModelSizes, readModelLanguages, validateModelFile } from "./recognizer/index.ts";
