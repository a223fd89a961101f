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
export { heardLength, isWholeBlock } from "./diarization/index.ts";
export { type Language, readModelLanguages } from "./languages.ts";
export { otherLanguage, type Probabilities, sureProbability } from "./other-language.ts";
export {
  countPromptTokens,
  type GpuBackend,
  gpuBackends,
  maxPromptTokens,
  noteEncoderUse,
  validateModelFile,
} from "./recognizer/whisper/index.ts";
