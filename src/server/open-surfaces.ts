import { originOf } from "../api-contract/index.ts";
import { createConsole } from "../console/index.ts";
import { FolderWatcher, ownPlaces } from "../folders/index.ts";
import { LiveService } from "../live/index.ts";
import { PlaybackCopies } from "../media/index.ts";
import { programVersion } from "../program/index.ts";
import { SearchIndexer } from "../search/index.ts";
import { ConsoleSwitch, workerStatus } from "./console-switch.ts";
import { LivePlaces } from "./live-places.ts";
import type { ServerData } from "./open-data.ts";
import { endServer, recordingIntake, serveApi, transcriptionCreator } from "./serve-api.ts";
import { compatModels } from "./speech-models.ts";
import type { ServerEngine } from "./start-engine.ts";
import type { ServerQueue } from "./start-queue.ts";
import type { ServerStandby } from "./start-standby.ts";
import { webhookUserAgent } from "./start-webhooks.ts";

/** The surfaces of a server: the HTTP APIs, the console and the watched folders. */
export type ServerSurfaces = ReturnType<typeof openSurfaces>;

const MINUTE = 60_000;

/**
 * Serves the APIs, the console and live sessions, and prepares the watched folders.
 * @param settingsFile the file of the settings, which is in no watched folder
 * @throws {StartError} if the address is in use
 */
export function openSurfaces(
  data: ServerData,
  engine: ServerEngine,
  queued: ServerQueue,
  standby: ServerStandby,
  settingsFile?: string,
) {
  const { running, settings, certificate, stateFile } = data;
  const { readiness } = queued;
  const intake = recordingIntake({ ...data, ...queued, standby });
  queued.events.onEnded("waiting requests", () => intake.limits.serveWaiting());
  const translationRefusal = (id: string) => data.speech.translationRefusal(id);
  const creator = transcriptionCreator({ ...data, intake, translationRefusal });
  const searchIndexer = new SearchIndexer(data);
  queued.events.onEnded("search index", ({ id }) => searchIndexer.add(id));
  const folders = new FolderWatcher({
    ...data,
    ...queued,
    intake,
    changes: standby,
    exports: queued.exportMaker,
    speechModel: data.modelInUse,
    translationRefusal,
    limits: () => running.values.limits,
    settings: () => running.values.folders,
    own: () => ownPlaces(running.values, settingsFile),
    clock: () => performance.now(),
  });
  const livePlaces = new LivePlaces({
    engine: engine.local,
    modelPath: () => engine.models.current().path,
    encoder(signal) {
      const { models } = engine;
      // A server without recordings would never test the form that makes passes faster.
      const isUsed = live.hasOpened || running.values.live.sessions > 0;
      return isUsed
        ? models.encoderOf(models.current(), Number.POSITIVE_INFINITY, signal)
        : models.knownEncoderOf(models.current(), signal);
    },
    files: data.files,
    directory: data.dataDirectory.live,
    isIdle: () =>
      live.status().open === 0 && !engine.local.status().busy && data.recordings.open.counts().processing === 0,
    log: data.log,
    clock: () => performance.now(),
  });
  const live: LiveService = new LiveService({
    ...data,
    ...queued,
    intake,
    changes: standby,
    engine: {
      run: (...operation) => engine.engine.run(...operation),
      wake: () => engine.local.wake(),
    },
    models: engine.models,
    settings: () => running.values.live,
    limits: () => running.values.limits,
    measuredPlaces: () => livePlaces.count,
    metrics: data.metrics.live,
    clock: () => performance.now(),
  });
  const models = compatModels(data.speech, data.modelInUse);
  const consoleSwitch = new ConsoleSwitch(
    () => running.values.console.enabled,
    () => openConsole(data, engine, queued, { creator, models, live, searchIndexer }),
  );
  consoleSwitch.follow();
  const stopping = new AbortController();
  const server = serveApi({
    ...data,
    ...queued,
    changes: standby,
    models,
    attributions: () => data.speech.attributions(),
    wantedWorkers: () => engine.fleet?.wantedWorkers() ?? null,
    stopping: stopping.signal,
    pause: () => data.lease.trouble(),
    address: settings.server,
    intake,
    translationRefusal,
    creator,
    live,
    searchIndexer,
    surfaces: [consoleSwitch],
    lastUse: data.keyUsage,
  });
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
  return {
    origin,
    folders,
    live,
    livePlaces,
    consoleSwitch,
    writeState,
    renewCertificate,
    /** Closes all connections of clients, because nothing may be answered now. */
    cut: () => server.cut(),
    /** Refuses what would begin new work, and ends answers that wait for recordings. */
    refuse() {
      readiness.stop();
      stopping.abort();
    },
    async [Symbol.asyncDispose]() {
      await folders.stop();
      // Closed before the server, so that clients learn that their sessions are suspended.
      await live.stop();
      clearInterval(certificateTimer);
      // Closed before the server, because some of the console's responses never end and would delay the server's stop.
      await consoleSwitch.close();
      await endServer(server);
      await searchIndexer.stop();
    },
  };
}

type ConsoleParts = Pick<Parameters<typeof createConsole>[0], "creator" | "models" | "live" | "searchIndexer">;

function openConsole(data: ServerData, { local, fleet }: ServerEngine, queued: ServerQueue, parts: ConsoleParts) {
  const { recordings, running, files } = data;
  return createConsole({
    ...data,
    ...queued,
    ...parts,
    settings: () => running.values,
    worker: () => workerStatus(local),
    machines: () => fleet?.engine.machines() ?? null,
    postOptions: () => ({ allow: running.parsed.webhooksAllow, userAgent: webhookUserAgent, now: data.now }),
    problem: () => queued.readiness.known(),
    secure: data.certificate !== null,
    playback: new PlaybackCopies({
      ...data,
      ffmpegPath: files.ffmpeg,
      maxSeconds: () => running.values.limits.recording_seconds,
      isBusy: () => Object.values(recordings.open.counts()).some((open) => open > 0),
    }),
  });
}
