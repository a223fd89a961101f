import { timestamp, toProgress } from "../../api-contract/index.ts";
import type { Recording } from "../../database/index.ts";
import { memoryOf } from "../../machine/index.ts";
import { programVersion, residentBytes } from "../../program/index.ts";
import { readDailyWork } from "../../recordings/index.ts";
import { countPaused } from "../../webhooks/index.ts";
import type { Day, OpenRecording, Overview, Speed } from "../contract/index.ts";
import type { ConsoleServices } from "./services.ts";
import { optionalTimestamp, ownersOf, problemOf } from "./show-recording.ts";

const startedAt = Math.round(Date.now() - process.uptime() * 1000);

const SHOWN_DAYS = 30;

/** Reads the state of the server for the overview page. */
export async function readOverview(services: ConsoleServices): Promise<Overview> {
  const { store, recordings, metrics, settings, modelInUse, worker, live, machines, problem, now } = services;
  const [work, crashes, refusals, failures, disk] = await Promise.all([
    metrics.engine.work(),
    metrics.engine.crashes(),
    metrics.http.refusals(),
    metrics.recordings.failures(),
    diskOf(services),
  ]);
  const { state, processIds, lanes, waiting, decoder, gpus } = worker();
  const memory = memoryOf();
  const workerBytes = processIds.map((id) => residentBytes(id) ?? 0);
  return {
    server: {
      version: programVersion,
      started_at: timestamp(startedAt),
      model: modelInUse().id,
      problem: problem(),
    },
    queue: {
      ...recordings.open.counts(),
      slots: settings().queue.slots,
      waiting_since: optionalTimestamp(recordings.open.longestQueuedSince()),
    },
    recordings: openRecordings(services),
    days: readDailyWork(store, now(), SHOWN_DAYS).map(
      (day): Day => ({
        day: day.day,
        received_seconds: day.receivedSeconds,
        completed_seconds: day.completedSeconds,
        completed: day.completed,
        failed: day.failed,
      }),
    ),
    speed: work.map(
      ({ step, device, gpu = "", seconds, audioSeconds }): Speed => ({
        step,
        device,
        gpu: gpu === "" ? null : gpu,
        work_seconds: seconds,
        audio_seconds: audioSeconds,
        times_real_time: seconds === 0 ? 0 : audioSeconds / seconds,
      }),
    ),
    memory: {
      server_bytes: process.memoryUsage.rss(),
      worker_bytes: workerBytes.length === 0 ? null : workerBytes.reduce((sum, bytes) => sum + bytes, 0),
      available_bytes: memory.availableBytes,
      total_bytes: memory.totalBytes,
      gpus: gpus.map(({ freeBytes, totalBytes, ...gpu }) => ({
        ...gpu,
        free_bytes: freeBytes,
        total_bytes: totalBytes,
      })),
    },
    disk,
    refusals: refusals.map(({ name, count }) => ({ code: name, count })),
    failures: failures.map(({ reason, cause, count }) => ({ reason, cause: cause === "" ? null : cause, count })),
    worker: {
      ...{ state, lanes, waiting },
      decoder: decoder === null ? null : { slots: decoder.slots, rows_per_step: decoder.rowsPerStep },
      crashes: crashes.map(({ name, count }) => ({ signal: name, count })),
    },
    paused_webhooks: countPaused(store),
    live: settings().live.enabled ? live.status() : null,
    fleet:
      machines()?.map(({ machine, version, lanes, busy, problem }) => ({
        name: machine,
        version,
        lanes,
        busy,
        problem,
      })) ?? null,
  };
}

async function diskOf({ disk, settings }: ConsoleServices): Promise<Overview["disk"]> {
  // If the disk cannot be read, its figures are missing. The other figures are then even more important.
  const figures = await disk.read().catch(() => null);
  if (figures === null) return null;
  return {
    free_bytes: figures.freeBytes,
    size_bytes: figures.sizeBytes,
    reserve_bytes: settings().storage.reserve_bytes,
    database_bytes: figures.databaseBytes,
    folders: figures.folders,
  };
}

const SHOWN_RECORDINGS = 100;

/**
 * Returns the recordings in progress, then the queued recordings. The order of the queued recordings comes from the
 * queue, since it depends on more than their age.
 */
function openRecordings(services: ConsoleServices): OpenRecording[] {
  const { recordings, library, queue, store } = services;
  const { processing, queued } = recordings.open.list();
  const places = new Map(queue.waiting(SHOWN_RECORDINGS).map((id, place) => [id, place + 1]));
  const placed = [...processing, ...queued].map((recording) => ({
    recording,
    place: places.get(recording.id) ?? null,
  }));
  // A recording is still `queued` while its link is fetched. Queued recordings without one of the first
  // SHOWN_RECORDINGS places come last.
  const rank = ({ recording, place }: { recording: Recording; place: number | null }) =>
    place ?? (recording.status === "processing" || recording.step !== null ? 0 : SHOWN_RECORDINGS + 1);
  return placed
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, SHOWN_RECORDINGS)
    .map(({ recording, place }) => ({ recording, place, of: library.find(recording.rerunOf ?? "") ?? recording }))
    .map(({ recording, place, of }) => ({
      // A rerun is shown as the recording that it processes again.
      id: of.id,
      name: of.sourceName ?? of.sourceUrl,
      ...ownersOf(store, recording),
      status: recording.status,
      progress: toProgress(recording),
      place,
      problem: problemOf(services, recording),
      duration_seconds: recording.durationSeconds,
      created_at: timestamp(recording.createdAt),
    }));
}
