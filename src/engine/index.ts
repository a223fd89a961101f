export { cpuShares } from "./cpu-shares.ts";
export { isCrashSignal } from "./crash-signals.ts";
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
export { blockCount, heardLength, isWholeBlock } from "./diarization/index.ts";
export { noteEncoderUse } from "./encoder/index.ts";
export { Engine } from "./engine.ts";
export type { EngineOptions, WorkerDeath } from "./engine-options.ts";
export { EngineCrashError, EngineKilledError, EngineOperationError, EngineStalledError } from "./errors.ts";
export { heardPieces, heardSeconds, middleOfChunk, partOfChunk } from "./heard-pieces.ts";
export { type Language, readModelLanguages } from "./languages.ts";
export { validateModelFile } from "./model-file/index.ts";
export { otherLanguage, type Probabilities, sureProbability } from "./other-language.ts";
export { type SpeakerPart, type Start as WorkerStart, speakerParts } from "./protocol.ts";
export { Reaching } from "./reaching.ts";
export { SAMPLE_RATE } from "./sample-rate.ts";
export { secondsOf } from "./seconds-of.ts";
export {
  type Chunk,
  chunkSchema,
  type EngineWord,
  type PcmFile,
  type Span,
  spanSchema,
  type Turn,
  turnSchema,
  wordSchema,
} from "./spans.ts";
export { Trial } from "./trial.ts";
export { countPromptTokens, type GpuBackend, gpuBackends, maxPromptTokens } from "./whisper/index.ts";
export type { WorkDone } from "./work-done.ts";
