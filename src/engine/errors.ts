/** The worker died three times at one operation, the last time with nothing else running. */
export class EngineCrashError extends Error {
  override readonly name: string = "EngineCrashError";
}

/** As often, the worker came to no end with it and had to be ended. */
export class EngineStalledError extends EngineCrashError {
  override readonly name = "EngineStalledError";
}

/** As often, it was killed from outside; that may have been chance, and another try another day's. */
export class EngineKilledError extends EngineCrashError {
  override readonly name = "EngineKilledError";
}

/** An operation ended with an error of its own; the worker lives on. */
export class EngineOperationError extends Error {
  override readonly name = "EngineOperationError";
  /** The system's error code in the worker, e.g. `ENOSPC`; empty where there was none. */
  readonly code: string;

  constructor(message: string, code = "") {
    super(message);
    this.code = code;
  }
}
