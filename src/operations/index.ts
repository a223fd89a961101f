export {
  type CompletedOperation,
  type CountedOperation,
  describeWork,
  type SpeechDevice,
} from "./completed-operation.ts";
export { dataOf, isSpanOperation, type SpanOperation } from "./operation-data.ts";
export {
  type DecoderWork,
  type FromWorker,
  fromWorkerSchema,
  type Gpu,
  type GpuFailure,
  type GpuMemory,
  gpuSchema,
  isLiveOperation,
  type LiveOperation,
  type OperationName,
  operations,
  type Params,
  type Result,
  type ToWorker,
  toWorkerSchema,
  type WorkerRole,
  type WorkerStart,
} from "./protocol.ts";
