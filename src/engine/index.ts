export { cpuShares } from "./cpu-shares.ts";
export { Engine } from "./engine.ts";
export type { EngineOptions } from "./engine-options.ts";
export { EngineCrashError, EngineKilledError, EngineOperationError, EngineStalledError } from "./errors.ts";
export { HealthCheck } from "./health-check.ts";
export { RemoteAttempts } from "./remote-attempts.ts";
export type { AttemptRecord } from "./task.ts";
export { isCrashSignal, type UnexpectedExit } from "./worker-exit.ts";
