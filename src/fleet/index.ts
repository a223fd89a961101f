export { Broker, BrokerError, type BrokerOptions } from "./broker.ts";
export { FleetDirectory, FleetDirectoryError } from "./fleet-directory.ts";
export { type FleetCounts, FleetEngine, type LocalEngine } from "./fleet-engine.ts";
export { type FleetStatus, fleetStatus, type MachineStatus } from "./fleet-status.ts";
export { FleetWorker, type FleetWorkerOptions, type WorkerModel } from "./fleet-worker.ts";
export { type CoordinatorStatus, subjectToken } from "./messages.ts";
export type { Machine } from "./roster.ts";
