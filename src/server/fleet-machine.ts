import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runtimeDirectoryOf, type Settings } from "../config/index.ts";
import { computeOptions, SpeechEngine } from "../devices/index.ts";
import { ModelLibrary } from "../models/index.ts";
import { digestFile, programFiles, programVersion } from "../program/index.ts";
import { DataDirectory } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { messageOf } from "../text/index.ts";
import { fleetIdentity } from "./fleet-coordinator.ts";
import { FleetModels } from "./fleet-models.ts";
import { startWorkerHealth } from "./health.ts";
import { requireCpuVariantOf, withSpeechSample } from "./speech-models.ts";
import { StartError } from "./start-error.ts";
import type { ServerStatus } from "./transcribe-server.ts";

/** A running worker of a fleet. */
export interface FleetMachine {
  readonly machine: string;
  /** Returns why it takes no operations, and how many run. */
  readonly status: () => ServerStatus;
  /**
   * Takes no more operations, and returns those that have not begun. Resolves when those that run are completed.
   * @param signal ends the wait
   */
  drain(signal: AbortSignal): Promise<void>;
  /** Returns its operations to the fleet and stops. */
  stop(): Promise<void>;
}

/**
 * Starts a worker of a fleet: this machine's engine, without database and API. The data directory holds models, results
 * of self-tests and the data of running operations.
 * @throws {DataDirectoryInUseError} @throws {StartError} if the broker or the CPU variant cannot be used
 */
export async function startFleetMachine(settings: Settings, log: Logger): Promise<FleetMachine> {
  const { broker: url } = settings.fleet;
  if (url === "") throw new StartError("fleet.broker is not set: name the fleet's broker with --fleet tls://HOST:4222");
  // Loaded only here, so that other commands do not load the broker's client.
  const { Broker, FleetWorker, subjectToken } = await import("../fleet/index.ts");
  await using stack = new AsyncDisposableStack();
  const dataDirectory = new DataDirectory(settings.storage.data_dir);
  stack.defer(dataDirectory.lock());
  const files = await programFiles(runtimeDirectoryOf(settings));
  await requireCpuVariantOf(settings, files);
  const directory = join(dataDirectory.work, "fleet");
  // Operations of an earlier start.
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  const models = new FleetModels({
    builtIn: { path: files.speechModel, sha256: await digestFile(files.speechModel, "sha256") },
    library: new ModelLibrary(dataDirectory.models),
    digest: (path) => digestFile(path, "sha256"),
    speech: () => speech,
    log,
  });
  const speech = new SpeechEngine({
    files,
    log,
    verdictsPath: dataDirectory.verdicts,
    ...computeOptions(settings.engine),
    tunes: true,
    // The coordinator decodes the recordings.
    slots: () => 0,
    speechModels: () => models.paths(),
    withSample: (use) => withSpeechSample(files, use, directory),
    lackOfSpace: () => null,
  });
  stack.defer(() => speech.close());
  const { machine, build } = await fleetIdentity(settings.fleet);
  let status: FleetMachine["status"];
  let drain: FleetMachine["drain"];
  try {
    const broker = await Broker.connectOrWait({ ...settings.fleet, url, machine, log });
    stack.defer(() => broker.close());
    const worker = new FleetWorker({
      broker,
      engine: speech.engine,
      models: () => models.list(),
      build,
      machine,
      directory,
      log,
      version: programVersion,
      instance: subjectToken(Bun.randomUUIDv7()),
      status: () => {
        const { trouble, workers } = speech.engine.status();
        const recognizing = workers.filter(({ role }) => role !== "speakers");
        return { trouble, devices: recognizing.map(({ gpu }) => gpu?.name ?? "CPU") };
      },
      device: () => {
        const label = speech.engine.status().workers.find(({ gpu }) => gpu !== null)?.gpu?.label ?? "";
        return { device: label === "" ? "cpu" : label.replace(/\d+$/, "").toLowerCase(), gpu: label };
      },
      now: Date.now,
    });
    stack.defer(() => worker.stop());
    status = () => {
      const away = broker.connected ? null : `the broker ${url} is away; see transcribe doctor`;
      const trouble = away ?? speech.engine.status().trouble ?? models.trouble ?? worker.trouble;
      return { trouble, queued: 0, processing: worker.busy };
    };
    drain = (signal) => worker.drain(signal);
    const { health } = settings.fleet;
    const readiness = () => status().trouble ?? (worker.isReady ? null : "it is starting");
    if (health !== "") stack.use(startWorkerHealth(health, readiness));
  } catch (error) {
    throw new StartError(`fleet: ${messageOf(error)}`);
  }
  speech.engine.wake();
  log.info({ event: "fleet.working", broker: url, machine, build });
  const resources = stack.move();
  return { machine, status, drain, stop: () => resources.disposeAsync() };
}
