export { type CompletedOperation, deviceOf, type WorkerDevices } from "./completed-operation.ts";
export { cpuShares } from "./cpu-shares.ts";
export { isCrashSignal } from "./crash-signals.ts";
export { Engine } from "./engine.ts";
export type { EngineOptions, UnexpectedExit } from "./engine-options.ts";
export { EngineCrashError, EngineKilledError, EngineOperationError, EngineStalledError } from "./errors.ts";
export { HealthCheck } from "./health-check.ts";
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
