import { availableParallelism } from "node:os";
import { getAccount, getWorkspace, LastUse, Usage } from "../accounts/index.ts";
import type { Settings } from "../config/index.ts";
import { readModelLanguages, Trial } from "../engine/index.ts";
import { createApp, type HttpServer, startServer, TranscriptionCreator, transcriptionMapper } from "../http/index.ts";
import { checkRecordingUrl, probeRecording } from "../media/index.ts";
import { processRecording } from "../pipeline/index.ts";
import { programVersion } from "../program/index.ts";
import { RecordingQueue } from "../queue/index.ts";
import {
  backupDirectory,
  DataDirectory,
  DiskRoom,
  type MachineTroubleKind,
  machineTrouble,
  machineTroubles,
  openDatabase,
  pruneUpgradeBackups,
} from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { applyRetention, isOpen, KeptAnswers, Recordings } from "../transcriptions/index.ts";
import { count, messageOf } from "../wording/index.ts";
import { Chores } from "./chores.ts";
import { createMetrics } from "./create-metrics.ts";
import { pipelineServices } from "./pipeline-services.ts";
import { programFilesFor } from "./program-files-for.ts";
import { announceServer, originOf, withdrawServer } from "./running-server.ts";
import { RunningSettings } from "./running-settings.ts";
import { serverCertificate } from "./server-certificate.ts";
import { speechModelsFor } from "./speech-models-for.ts";
import { StartError } from "./start-error.ts";
import { WorkerModels } from "./worker-models.ts";

/** What a server says of itself while it runs. */
export interface Standing {
  /** What keeps it from taking work, in plain words; null when nothing does. */
  readonly trouble: string | null;
  readonly queued: number;
  readonly processing: number;
}

/** A running server: everything there is, put together. */
export interface Appliance {
  /** e.g. `http://127.0.0.1:8787` */
  readonly origin: string;
  /** How it stands. Throws when the database can't be read. */
  standing(): Standing;
  /**
   * Goes on with other settings: those that can be changed count from now on, for requests and recordings that are under
   * way where they next ask. What can't be changed without a restart stays as it is, and the log says so.
   * @throws {SettingsError} and leaves all as it was
   */
  reload(settings: Settings): void;
  /** Takes no more work, parks what runs at its next checkpoint, and gives everything back. */
  stop(): Promise<void>;
}

const minute = 60_000;
/** How long answers under way may take when the server stops. A slow client must not hold it up: systemd gives 30 s in all. */
const lastAnswersMilliseconds = 10_000;

/**
 * Starts it all: takes the data directory, opens the database, starts the engine's worker, takes up what an earlier
 * server left, and listens.
 * @throws {DataDirectoryInUseError} @throws {MigrationError} @throws {SettingsError} for a list of hosts that is none
 * @throws {StartError} for a model that can't be read, or an address that is taken
 */
export async function startAppliance(settings: Settings, log: Logger): Promise<Appliance> {
  const now = Date.now;
  // What the settings say wrong is said before anything is taken or started.
  const running = new RunningSettings(settings);
  const limits = () => running.values.limits;
  const certificate = serverCertificate(settings.server, log, now);
  // What is taken and started is given back last to first: when the server stops, and when it can't start.
  await using taken = new AsyncDisposableStack();
  const dataDirectory = new DataDirectory(settings.storage.data_dir);
  taken.defer(dataDirectory.lock());
  // They are unpacked into it, and what is wrong with it is said as such.
  const files = await programFilesFor(settings);
  const store = openDatabase(dataDirectory.databasePath, (upgrade) =>
    log.info({ event: "storage.upgraded", ...upgrade }),
  );
  taken.defer(() => store.$client.close());
  taken.defer(() => withdrawServer(dataDirectory));
  const chores = new Chores(log);
  const lastUse = new LastUse(store);
  const flushLastUse = () => lastUse.flush();
  taken.defer(() => chores.run("last use of keys", flushLastUse));
  const recordings = new Recordings(store, now);
  const speech = speechModelsFor(settings, { files, dataDirectory, store });
  const modelInUse = () => {
    const { id, path } = speech.current();
    return { id, languages: readModelLanguages(path) };
  };
  const from =
    settings.engine.whisper_model === "" ? "the model in use (transcribe models use)" : "engine.whisper_model";
  asError(StartError, from, () => {
    speech.requireCurrent();
    modelInUse();
  });
  dataDirectory.sweep(
    (id) => {
      const recording = recordings.get(id);
      return recording !== null && isOpen(recording.status);
    },
    (id) => recordings.get(id) !== null,
  );

  const metrics = createMetrics({
    ...{ recordings, now },
    dataPaths: dataDirectory,
    engine: () => models.engine,
    modelInUse: () => speech.current().id,
    certificateEndsAt: () => (certificate === null ? null : certificate.endsAt / 1000),
    stalled: () => queue.stalled(),
  });
  const models = new WorkerModels({
    onWork: (work) => metrics.engine.stepDone(work),
    onWorkerDeath: ({ signal }) => metrics.engine.workerDied(signal),
    ...{ files, speech, recordings, log },
    threads: settings.engine.threads || availableParallelism(),
    verdictsPath: dataDirectory.verdicts,
  });
  const { engine } = models;
  taken.defer(() => engine.close());
  const usage = new Usage(store);
  const room = new DiskRoom(dataDirectory.root, () => running.values.storage.reserve_bytes);

  const services = pipelineServices({
    ...{ store, recordings, dataDirectory, engine, models, usage, metrics, log, now, running, files },
    ...{ room, waitsForMachine: true },
  });
  const queue = new RecordingQueue({
    recordings,
    slots: settings.queue.slots,
    process: (id, signal) => processRecording(services, id, signal),
    priorityOf: (accountId) => getAccount(store, accountId)?.priority ?? 0,
    now,
    onFault: (recordingId, error) => log.error({ event: "recording.fault", recordingId, err: error }),
  });
  taken.defer(() => queue.stop());
  const recovered = queue.recover();

  let stopping = false;
  const trial = new Trial({ engine, model: () => speech.current().path, now: () => performance.now() });
  const whileServing = <T>(trouble: () => T) =>
    stopping ? "the server is stopping" : (room.lack(0, "intake") ?? stallOf(queue.stalled()) ?? trouble());
  const toTranscription = transcriptionMapper((id) => getWorkspace(store, id));
  const creator = new TranscriptionCreator({
    ...{ recordings, usage, queue, dataDirectory, room, limits, toTranscription, metrics, now },
    speechModel: modelInUse,
    answers: new KeptAnswers(store),
    probe: (path) => probeRecording(files.ffmpeg, path),
    fetchEnabled: () => running.values.fetch.enabled,
    checkUrl: (text) => checkRecordingUrl(text, running.allow),
    isAccount: (id) => getAccount(store, id) !== null,
    refusal: () => (stopping ? "The server is stopping; it takes work again in a moment." : null),
  });
  const app = createApp({
    ...{ store, recordings, dataDirectory, creator, toTranscription, lastUse, limits, metrics, log, now },
    languages: () => modelInUse().languages,
    metricsRemote: () => running.values.metrics.remote,
    readiness: () => whileServing(() => trial.trouble()),
    secure: certificate !== null,
  });
  const { host, port } = settings.server;
  const credentials = certificate?.current ?? null;
  const server = asError(StartError, `can't listen on ${host}, port ${port}`, () =>
    startServer({ app, host, port, proxies: () => running.proxies, credentials, log, metrics, now }),
  );
  taken.defer(() => endServer(server));

  const clean = () => {
    const { audio_days: audioDays, completed_days: completedDays, upgrade_backup_days } = running.values.retention;
    applyRetention(recordings, dataDirectory, { audioDays, completedDays }, now());
    pruneUpgradeBackups(backupDirectory(dataDirectory.databasePath), now(), upgrade_backup_days);
  };
  const origin = originOf({ ...settings.server, port: server.port });
  const announce = () => {
    const shown = certificate?.current.leaf.toString() ?? null;
    const modelSetting = settings.engine.whisper_model;
    try {
      announceServer(dataDirectory, {
        pid: process.pid,
        version: programVersion,
        origin,
        modelSetting,
        certificate: shown,
      });
    } catch (error) {
      if (machineTrouble(error) === null) throw error;
      // A full disk: commands on this machine don't know this server, or its new certificate; all others go on.
      log.error({ event: "server.not_announced", trouble: messageOf(error) });
    }
  };
  const renewCertificate = () => {
    if (stopping || certificate?.reload() !== true) return;
    server.useCredentials(certificate.current);
    announce();
  };
  // Not a chore: should the port be lost over it, the process has to end.
  const renewing = setInterval(renewCertificate, minute);
  taken.defer(() => clearInterval(renewing));
  taken.defer(() => chores.stop());
  chores.every(minute, "last use of keys", flushLastUse);
  chores.every(60 * minute, "retention", clean);
  chores.run("retention", clean);

  announce();
  log.info({ event: "server.listening", origin, recovered });

  const held = taken.move();
  return {
    origin,
    standing: () => ({ trouble: whileServing(() => trial.known()), ...recordings.countsOpen() }),
    reload(next) {
      if (stopping) return;
      const { settings, changed, needRestart } = running.reload(next);
      log.level = settings.log.level;
      // By itself: should the port be lost over it, the process ends, and is not one that serves nobody.
      setImmediate(renewCertificate);
      queue.slots = settings.queue.slots;
      log.info({ event: "settings.reloaded", changed });
      if (needRestart.length > 0) log.warn({ event: "settings.need_restart", settings: needRestart });
    },
    async stop() {
      stopping = true;
      // Who asks meanwhile is answered: how far a recording is, or that no other is taken.
      await queue.stop();
      await held.disposeAsync();
      log.info({ event: "server.stopped" });
    },
  };
}

/** What a part refuses is the operator's to mend: a message that says where, without a stack. */
function asError<T>(Kind: new (message: string) => Error, what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Kind(`${what}: ${messageOf(error)}`);
  }
}

/** Takes no more connections, and cuts those whose answers are not out in time. */
async function endServer(server: HttpServer): Promise<void> {
  const timer = setTimeout(() => void server.stop(true), lastAnswersMilliseconds);
  await server.stop();
  clearTimeout(timer);
}

/** What keeps recordings from being gone on with. One that needs more room than there is holds up nobody else. */
function stallOf(stalled: readonly MachineTroubleKind[]): string | null {
  const kinds = [...new Set(stalled)].filter((kind) => kind !== "no_room");
  if (kinds.length === 0) return null;
  return `${count(stalled.length, "recording waits", "recordings wait")}: ${kinds.map((kind) => machineTroubles[kind]).join(", ")}`;
}
