export {
  areVerdicts,
  chooseCpuLibraryFor,
  chooseGpus,
  chooseSpeakerGpu,
  describeEncoder,
  type EncoderChoiceOptions,
  type FoundGpu,
  GpuTester,
  type GpuTrial,
  isGpuWithinReach,
  knownEncoder,
  leaveOutCpuLibrary,
  listGpus,
  NoCpuLibraryError,
  surveyCpuLibraries,
  tryEncoder,
  tryOnnx,
  trySpeakerGpu,
} from "./devices/index.ts";
export { heardLength } from "./diarization/index.ts";
export { addonFile, type GpuBackend, gpuBackends } from "./ggml/index.ts";
export { otherLanguage, type Probabilities, sureProbability } from "./other-language.ts";
export { familyOf, type Language, noteEncoderUse, readModelLanguages, validateModelFile } from "./recognizer/index.ts";
