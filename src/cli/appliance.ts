import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ownCommand, programFiles, type Settings } from "../config/index.ts";
import { Engine, readModelLanguages } from "../engine/index.ts";
import { createApp, createTranscriptionWith, startServer } from "../http/index.ts";
import { processRecording } from "../pipeline/index.ts";
import { RecordingQueue } from "../queue/index.ts";
import { DataDirectory, openDatabase } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Recordings } from "../transcriptions/index.ts";
import { workerPreparation } from "./prepare-worker.ts";
import { announceServer, originOf, withdrawServer } from "./running-server.ts";

/** A running server: everything there is, put together. */
export interface Appliance {
  /** e.g. `http://127.0.0.1:8787` */
  readonly origin: string;
  /** Takes no more work, parks what runs at its next checkpoint, and gives everything back. */
  stop(): Promise<void>;
}

/**
 * Starts it all: takes the data directory, opens the database, starts the engine's worker, takes up what an earlier
 * server left, and listens.
 * @throws {DataDirectoryInUseError} @throws {MigrationError} @throws {CommandError} when a part of the program is missing
 */
export function startAppliance(settings: Settings, log: Logger): Appliance {
  const now = Date.now;
  const dataDirectory = new DataDirectory(settings.storage.data_dir);
  const unlock = dataDirectory.lock();
  const store = openDatabase(dataDirectory.databasePath);
  const recordings = new Recordings(store, now);
  dataDirectory.sweep(
    (id) => isOpen(recordings.get(id)?.status),
    (id) => recordings.get(id) !== null,
  );

  const whisperModel = settings.engine.whisper_model || programFiles.whisperModel;
  const threads = settings.engine.threads || availableParallelism();
  const languages = readModelLanguages(whisperModel);
  const engine = new Engine({
    command: ownCommand("__worker"),
    prepare: workerPreparation({
      whisperModel,
      threads,
      verdictsPath: join(dataDirectory.state, "devices.json"),
      log,
    }),
    // On a CPU an operation uses all threads well; two at once wait for each other at every step.
    lanes: 1,
    log,
  });

  const decodeOptions = { ffmpegPath: programFiles.ffmpeg, maxSeconds: settings.limits.recording_seconds };
  const services = { store, recordings, dataDirectory, engine, languages, decodeOptions, log, now };
  const queue = new RecordingQueue({
    recordings,
    slots: settings.queue.slots,
    process: (id, signal) => processRecording(services, id, signal),
  });
  const recovered = queue.recover();

  const createTranscription = createTranscriptionWith({
    recordings,
    queue,
    dataDirectory,
    languages,
    ffmpegPath: programFiles.ffmpeg,
    limits: settings.limits,
  });
  const app = createApp({
    store,
    recordings,
    languages,
    createTranscription,
    log,
    readiness: () => readinessOf(engine),
  });
  const server = startServer({
    app,
    host: settings.server.host,
    port: settings.server.port,
    log,
    now,
  });
  const origin = originOf(settings.server.host, server.port ?? settings.server.port);
  announceServer(dataDirectory, { pid: process.pid, origin });
  log.info({ event: "server.listening", origin, recovered });

  return {
    origin,
    async stop() {
      await server.stop();
      await queue.stop();
      await engine.close();
      withdrawServer(dataDirectory);
      store.$client.close();
      unlock();
      log.info({ event: "server.stopped" });
    },
  };
}

function readinessOf(engine: Engine): string | null {
  const { state, trouble } = engine.status();
  return state === "ready" ? null : (trouble ?? "the models are being loaded");
}

function isOpen(status: string | undefined): boolean {
  return status === "queued" || status === "processing";
}
