/** The worker died of one operation so often that it is given up; the last time, nothing ran beside it. */
export class EngineCrashError extends Error {
  override readonly name: string = "EngineCrashError";
}

/** The same where the worker came to no end with it, and was ended for that. */
export class EngineStalledError extends EngineCrashError {
  override readonly name = "EngineStalledError";
}

/** The worker was killed from outside as often. That may have been chance: whoever asked may ask again. */
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
