export {
  areVerdicts,
  type CpuVariant,
  chooseCpuLibraryFor,
  chooseGpuLibraries,
  leaveOutCpuLibrary,
  listDevices,
  NoCpuLibraryError,
  surveyCpuLibraries,
  tryGpuLibrary,
  tryOnnx,
} from "./devices/index.ts";
export { blockCount } from "./diarization/grid.ts";
export { Engine, type EngineOptions, type EngineState, type WorkerDeath } from "./engine.ts";
export { EngineCrashError, EngineOperationError } from "./errors.ts";
export { type Language, readModelLanguages } from "./languages.ts";
export {
  type EngineWord,
  type GpuMemory,
  type PcmFile,
  type Span,
  type Start as WorkerStart,
  spanSchema,
  type Turn,
  turnSchema,
  type Utterance,
  utteranceSchema,
} from "./protocol.ts";
export { gpuLibraries } from "./whisper/libraries.ts";
export type { WorkDone } from "./work-done.ts";
