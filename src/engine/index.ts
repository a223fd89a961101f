export { describeWork } from "./completed-operation.ts";
export { cpuShares } from "./cpu-shares.ts";
export { Engine } from "./engine.ts";
export type { EngineOptions } from "./engine-options.ts";
export { EngineCrashError, EngineKilledError, EngineOperationError, EngineStalledError } from "./errors.ts";
export { HealthCheck } from "./health-check.ts";
export { dataOf, isSpanOperation, type SpanOperation } from "./operation-data.ts";
export {
  type DecoderWork,
  type FromWorker,
  type Gpu,
  type GpuFailure,
  type GpuMemory,
  gpuSchema,
  type OperationName,
  operations,
  type Params,
  type Result,
  type Start as WorkerStart,
  toWorkerSchema,
} from "./protocol.ts";
export { RemoteAttempts } from "./remote-attempts.ts";
export type { AttemptRecord } from "./task.ts";
export { isCrashSignal, type UnexpectedExit } from "./worker-exit.ts";
