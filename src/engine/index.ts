export { cpuShares } from "./cpu-shares.ts";
export { isCrashSignal } from "./crash-signals.ts";
export { Engine } from "./engine.ts";
export type { EngineOptions, WorkerDeath } from "./engine-options.ts";
export { EngineCrashError, EngineKilledError, EngineOperationError, EngineStalledError } from "./errors.ts";
export { dataOf, type SpanOperation } from "./operation-data.ts";
export {
  type FromWorker,
  type Gpu,
  type GpuFailure,
  type GpuMemory,
  gpuSchema,
  type OperationName,
  operations,
  type Params,
  type Result,
  type SpeakerPart,
  type Start,
  type Start as WorkerStart,
  speakerParts,
  type ToWorker,
  toWorkerSchema,
} from "./protocol.ts";
export { Trial } from "./trial.ts";
export { deviceOf, type WorkDone, type WorkerDevices } from "./work-done.ts";
