export { Broker, BrokerError, type BrokerOptions } from "./broker.ts";
export { FleetDirectory, FleetDirectoryError } from "./fleet-directory.ts";
export { type FleetCounts, FleetEngine, type LocalEngine } from "./fleet-engine.ts";
export { FleetWorker, type WorkerModel } from "./fleet-worker.ts";
export { subjectToken } from "./messages.ts";
export type { Machine } from "./roster.ts";
