export { createMetrics, type MeasuredParts, metricSources } from "./create-metrics.ts";
export { fleetIdentity } from "./fleet-coordinator.ts";
export { type FleetMachine, startFleetMachine } from "./fleet-machine.ts";
export { type LocalPipeline, openLocalPipeline } from "./local-pipeline.ts";
export { openProgramParts } from "./program-parts.ts";
export { settingFaults } from "./running-settings.ts";
export { readSpeechModels, withSpeechSample } from "./speech-models.ts";
export { StartError } from "./start-error.ts";
export { type ServerStatus, startTranscribeServer, type TranscribeServer } from "./transcribe-server.ts";
