/** The worker crashed at one operation too often. Nothing else ran in the worker during the last attempt. */
export class EngineCrashError extends Error {
  override readonly name: string = "EngineCrashError";
}

/** Like EngineCrashError, but on the last attempt the worker was stuck at the operation and was killed for that. */
export class EngineStalledError extends EngineCrashError {
  override readonly name = "EngineStalledError";
}

/** The worker was killed from outside too often. The operation may not be the cause, so the caller may retry it. */
export class EngineKilledError extends EngineCrashError {
  override readonly name = "EngineKilledError";
}

/** An operation failed with an error of its own; the worker keeps running. */
export class EngineOperationError extends Error {
  override readonly name = "EngineOperationError";
  /** System error code in the worker, e.g. `ENOSPC`; empty when there is none. */
  readonly code: string;

  constructor(message: string, code = "") {
    super(message);
    this.code = code;
  }
}
