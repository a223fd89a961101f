import { getAccount, KeyUsage, Usage } from "../accounts/index.ts";
import { originOf, ServerStateFile } from "../api/index.ts";
import { runtimeDirectoryOf, type Settings } from "../config/index.ts";
import { createConsole } from "../console/index.ts";
import { HealthCheck } from "../engine/index.ts";
import { FolderWatcher, ownPlaces } from "../folders/index.ts";
import { ExportAnswers } from "../http/index.ts";
import { Library } from "../library/index.ts";
import { PlaybackCopies } from "../media/index.ts";
import { SpeechModels } from "../models/index.ts";
import { fetchLink, processRecording, recoverWork } from "../pipeline/index.ts";
import { programFiles, programVersion } from "../program/index.ts";
import { RecordingEvents, RecordingQueue, Recordings } from "../recordings/index.ts";
import { DataDirectory, DiskSpace, DiskUsage, openDatabase } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Chores, hourlyChores } from "./chores.ts";
import { ConsoleSwitch, workerStatus } from "./console-switch.ts";
import { createMetrics } from "./create-metrics.ts";
import { coordinateFleet } from "./fleet-coordinator.ts";
import { pipelineServices } from "./pipeline-services.ts";
import { RunningSettings } from "./running-settings.ts";
import { endServer, serveApi, transcriptionCreator } from "./serve-api.ts";
import { ServerCertificate } from "./server-certificate.ts";
import { ServerReadiness } from "./server-readiness.ts";
import { compatModels, requireCpuVariantOf, startSpeechEngine, usableSpeechModel } from "./speech-models.ts";

/** The status of a running server. */
export interface ServerStatus {
  /** The reason why it accepts no work, in plain words; null if it accepts work. */
  readonly trouble: string | null;
  readonly queued: number;
  readonly processing: number;
}

/** A running server. */
export interface TranscribeServer {
  /** e.g. `http://127.0.0.1:8787` */
  readonly origin: string;
  /**
   * Returns the server's status.
   * @throws if the database cannot be read
   */
  status(): ServerStatus;
  /**
   * Applies other settings. Some can change at run time and take effect at once; requests and recordings in progress
   * use them the next time they read them. Settings that need a restart stay unchanged, and the log reports them.
   * @throws {SettingsError} and changes nothing
   */
  reload(settings: Settings): void;
  /** Accepts no more work, suspends recordings in progress at their next checkpoint, and releases all resources. */
  stop(): Promise<void>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Interval after which a failed write of the server state file is retried. */
const STATE_FILE_RETRY_MILLISECONDS = 10_000;

/**
 * Starts the server: locks the data directory, opens the database, starts the engine's worker, resumes the work of an
 * earlier server, and listens.
 * @param settingsFile the file of the settings, which no watched folder may contain
 * @throws {DataDirectoryInUseError} @throws {MigrationError}
 * @throws {SettingsError} for an invalid list of hosts
 * @throws {StartError} for a model that cannot be read, a CPU variant that cannot be used, or an address that is in use
 */
export async function startTranscribeServer(
  settings: Settings,
  log: Logger,
  settingsFile?: string,
): Promise<TranscribeServer> {
  const now = Date.now;
  // Errors in the settings are reported before any resource is acquired.
  const running = new RunningSettings(settings);
  const certificate = settings.server.tls_certificate === "" ? null : new ServerCertificate(settings.server, log, now);
  // Resources are released in reverse order, both when the server stops and when it fails to start.
  await using stack = new AsyncDisposableStack();
  const dataDirectory = new DataDirectory(settings.storage.data_dir);
  stack.defer(dataDirectory.lock());
  // After the lock, because the files are unpacked into the data directory, and errors of that directory come first.
  const files = await programFiles(runtimeDirectoryOf(settings));
  await requireCpuVariantOf(settings, files);
  const store = openDatabase(dataDirectory.databasePath, (upgrade) =>
    log.info({ event: "storage.upgraded", ...upgrade }),
  );
  stack.defer(() => store.$client.close());
  const stateFile = new ServerStateFile(dataDirectory, log);
  stack.defer(() => stateFile.remove());
  const chores = new Chores(log);
  const keyUsage = new KeyUsage(store);
  const flushKeyUsage = () => keyUsage.flush();
  stack.defer(() => chores.run("last use of keys", flushKeyUsage));
  const recordings = new Recordings(store, now);
  const speech = SpeechModels.of(settings, { files, dataDirectory, store, log });
  const modelInUse = usableSpeechModel(settings, speech);
  dataDirectory.cleanUp((ids) => recordings.open.areOpen(ids));

  const disk = new DiskUsage(dataDirectory, () => performance.now());
  const diskSpace = new DiskSpace(dataDirectory.root, () => running.values.storage.reserve_bytes);
  const metrics = createMetrics({
    recordings,
    disk,
    now,
    engine: () => engine,
    modelInUse: () => speech.current().id,
    certificateEndsAt: () => (certificate === null ? null : certificate.endsAt / 1000),
    stalled: () => queue.stalled(),
    machine: () => fleet?.machine ?? null,
    fleet: () => fleet?.status() ?? null,
    folders: () => folders.overview(),
  });
  const { speechEngine, models } = startSpeechEngine(settings, {
    files,
    speech,
    recordings,
    log,
    onCompletion: (completed) => metrics.engine.stepDone(completed),
    onUnexpectedExit: ({ signal }) => metrics.engine.unexpectedExit(signal),
    idleMilliseconds: () => running.values.engine.idle_minutes * MINUTE,
    tunes: true,
    slots: () => running.values.queue.slots,
    lackOfSpace: (bytes) => diskSpace.shortage(bytes, "work"),
    verdictsPath: dataDirectory.verdicts,
    temporaryDirectory: dataDirectory.incoming,
  });
  const { engine } = speechEngine;
  stack.defer(() => speechEngine.close());
  const fleet =
    settings.fleet.broker === ""
      ? null
      : await coordinateFleet(settings.fleet, {
          engine,
          models,
          onCompletion: (completed) => metrics.engine.stepDone(completed),
          log,
          now,
        });
  if (fleet !== null) stack.defer(() => fleet.close());
  const usage = new Usage(store);
  const removal = { recordings, dataDirectory, endExports: () => exports.removeDeleted() };
  const library = new Library({ ...removal, store, usage, now });
  const exports = new ExportAnswers({ library, dataDirectory, diskSpace, now });
  stack.defer(() => exports.close());
  const events = new RecordingEvents(store, log);
  const services = pipelineServices(running, files, {
    store,
    recordings,
    events,
    dataDirectory,
    engine: fleet?.engine ?? engine,
    models: fleet?.models ?? models,
    usage,
    metrics,
    log,
    now,
    diskSpace,
    waitsForMachine: true,
  });
  const freeModels = () => speechEngine.freeUnneeded();
  const queue = new RecordingQueue({
    recordings,
    slots: settings.queue.slots,
    fetch: (id, signal) => fetchLink(services, id, signal).finally(freeModels),
    process(id, signal) {
      // Starts the worker now, so that it is ready when it is needed.
      engine.wake();
      return processRecording(services, id, signal).finally(freeModels);
    },
    priorityOf: (accountId) => getAccount(store, accountId)?.priority ?? 0,
    now,
    onFault: (recordingId, error) => log.error({ event: "recording.fault", recordingId, err: error }),
  });
  stack.defer(() => queue.stop());
  await recoverWork(services);
  await library.withdrawLeft(settings.compat.keep_abandoned);
  const recovered = queue.recover();

  const health = new HealthCheck({ engine, model: () => speech.current().path, now: () => performance.now() });
  const fleetProblem = () => fleet?.engine.problem() ?? null;
  const readiness = new ServerReadiness({
    diskSpace,
    queue,
    health,
    fleetProblem,
    memoryWarning: () => speechEngine.memoryWarning(),
  });
  const parts = {
    store,
    files,
    dataDirectory,
    running,
    recordings,
    library,
    queue,
    usage,
    diskSpace,
    readiness,
    modelInUse,
    metrics,
    log,
    now,
  };
  const creator = transcriptionCreator(parts);
  events.onEnded("waiting requests", () => creator.intake.limits.serveWaiting());
  const folders = new FolderWatcher({
    store,
    library,
    intake: creator.intake,
    exports,
    dataDirectory,
    diskSpace,
    speechModel: modelInUse,
    limits: () => running.values.limits,
    settings: () => running.values.folders,
    own: () => ownPlaces(running.values, settingsFile),
    log,
    now,
    clock: () => performance.now(),
  });
  const openConsole = () =>
    createConsole({
      store,
      recordings,
      library,
      events,
      creator,
      exports,
      queue,
      usage,
      modelInUse,
      metrics,
      disk,
      log,
      now,
      settings: () => running.values,
      worker: () => workerStatus(engine),
      machines: () => fleet?.engine.machines() ?? null,
      fleetProblem,
      problem: () => readiness.known(),
      secure: certificate !== null,
      playback: new PlaybackCopies({
        recordings,
        dataDirectory,
        diskSpace,
        log,
        now,
        ffmpegPath: files.ffmpeg,
        maxSeconds: () => running.values.limits.recording_seconds,
        isBusy: () => Object.values(recordings.open.counts()).some((open) => open > 0),
      }),
    });
  const consoleSwitch = new ConsoleSwitch(() => running.values.console.enabled, openConsole);
  consoleSwitch.follow();
  const stopping = new AbortController();
  const server = serveApi({
    ...parts,
    events,
    models: compatModels(speech, modelInUse),
    attributions: () => speech.attributions(),
    stopping: stopping.signal,
    address: settings.server,
    certificate,
    creator,
    exports,
    surfaces: [consoleSwitch],
    lastUse: keyUsage,
  });
  stack.defer(() => endServer(server));
  // Closed before the server, because some of the console's responses never end and would delay the server's stop.
  stack.defer(() => consoleSwitch.close());

  const origin = originOf({ ...settings.server, port: server.port });
  const writeState = () =>
    stateFile.write({
      pid: process.pid,
      version: programVersion,
      origin,
      modelSetting: settings.engine.whisper_model,
      certificate: certificate?.current.leaf.toString() ?? null,
    });
  const renewCertificate = () => {
    if (readiness.isStopping || certificate?.reload() !== true) return;
    server.useCredentials(certificate.current);
    writeState();
  };
  // Not a chore, because chores catch errors: if the port is lost here, the process must exit.
  const certificateTimer = setInterval(renewCertificate, MINUTE);
  stack.defer(() => clearInterval(certificateTimer));
  stack.defer(() => chores.stop());
  chores.every(MINUTE, "last use of keys", flushKeyUsage);
  // Ends that an earlier server did not deliver, or that a full disk delayed.
  chores.run("ends of recordings", () => events.deliver());
  chores.every(MINUTE, "ends of recordings", () => events.deliver());
  chores.every(STATE_FILE_RETRY_MILLISECONDS, "server state file", () => stateFile.retry());
  for (const [name, chore] of Object.entries(
    hourlyChores({ ...removal, store, settled: () => library.settled() }, running, now),
  )) {
    chores.every(HOUR, name, chore);
    chores.run(name, chore);
  }

  folders.start();
  stack.defer(() => folders.stop());

  writeState();
  log.info({ event: "server.listening", origin, recovered });

  const resources = stack.move();
  return {
    origin,
    status: () => ({ trouble: readiness.known(), ...recordings.open.counts() }),
    reload(next) {
      if (readiness.isStopping) return;
      const { settings, changed, needRestart } = running.reload(next);
      log.level = settings.log.level;
      // Runs outside the reload: if the port is lost, the process exits instead of staying up without serving anybody.
      setImmediate(renewCertificate);
      queue.slots = settings.queue.slots;
      consoleSwitch.follow();
      log.info({ event: "settings.reloaded", changed });
      if (needRestart.length > 0) log.warn({ event: "settings.need_restart", settings: needRestart });
    },
    async stop() {
      readiness.stop();
      stopping.abort();
      // The API still responds in the meantime, with a recording's progress or a refusal of new ones.
      await Promise.all([queue.stop(), folders.stop()]);
      await resources.disposeAsync();
      log.info({ event: "server.stopped" });
    },
  };
}
