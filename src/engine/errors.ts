/**
 * The worker crashed at one operation so often that the engine gives up; on the last attempt nothing else ran in it.
 */
export class EngineCrashError extends Error {
  override readonly name: string = "EngineCrashError";
}

/** Like EngineCrashError, but on the last attempt the worker was stuck at the operation and was killed for that. */
export class EngineStalledError extends EngineCrashError {
  override readonly name = "EngineStalledError";
}

/** The worker was killed from outside as often as that. It may have been chance, so the caller may ask again. */
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
