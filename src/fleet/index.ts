export { Broker, BrokerError, type BrokerOptions, type BrokerReport } from "./broker.ts";
export { COORDINATOR } from "./broker-config.ts";
export { credentialsEnd, credentialsTrouble } from "./check-credentials.ts";
export { FleetDirectory, FleetDirectoryError } from "./fleet-directory.ts";
export { FleetEngine, type FleetEngineOptions, type LocalEngine } from "./fleet-engine.ts";
export { type FleetStatus, fleetStatus, type MachineStatus } from "./fleet-status.ts";
export { FleetWorker, type FleetWorkerOptions, type WorkerModel } from "./fleet-worker.ts";
export { type CoordinatorStatus, subjectToken } from "./messages.ts";
export { MAX_CLOCK_DIFFERENCE_MILLISECONDS, type Machine } from "./roster.ts";
