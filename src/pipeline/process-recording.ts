import { EngineCrashError, EngineOperationError, EngineStalledError } from "../engine/index.ts";
import { machineTrouble } from "../storage/index.ts";
import { Checkpoints, type Failure, isOpen, type Recording } from "../transcriptions/index.ts";
import { messageOf } from "../wording/index.ts";
import { complete, removeWork } from "./complete.ts";
import { fetchSource } from "./fetch.ts";
import { mayWait } from "./may-wait.ts";
import type { Outcome } from "./outcome.ts";
import type { PipelineServices } from "./services.ts";
import { RecordingFailure } from "./step.ts";
import { transcript } from "./transcript.ts";

/**
 * Works off one recording: fetch → decode → detect → transcribe → diarize → finalize, from its last checkpoint on. It ends
 * as `completed` or `failed`; when the signal aborts because the server stops it is left as it is, for a later start. Where
 * the disk is full or the machine else can't work, it is left as it is, too, and is to be tried again.
 * @throws what is neither the recording's fault nor the machine's
 */
export async function processRecording(services: PipelineServices, id: string, signal: AbortSignal): Promise<Outcome> {
  try {
    await workOff(services, id, signal);
    return null;
  } catch (error) {
    const trouble = machineTrouble(error);
    if (trouble === null) throw error;
    forgetTries(services, id);
    services.log.warn({ event: "recording.waits", recordingId: id, trouble: trouble.kind, detail: trouble.detail });
    return { waitsFor: trouble.kind };
  }
}

/** What it was at did the worker no harm. Where not even that can be written down, it can't be begun either. */
function forgetTries({ store }: PipelineServices, id: string): void {
  try {
    new Checkpoints(store, id).clear("tries");
  } catch (error) {
    if (machineTrouble(error) === null) throw error;
  }
}

async function workOff(services: PipelineServices, id: string, signal: AbortSignal): Promise<void> {
  const { recordings, usage, log, now } = services;
  const startedAt = now();
  const ended = (event: string, facts: object) =>
    log.info({ event, recordingId: id, milliseconds: now() - startedAt, ...facts });
  try {
    const recording = await begin(services, id, signal);
    if (recording === null) return await tidy(services, id);
    log.info({ event: "recording.started", recordingId: id });
    const segments = await wholeTranscript(services, recording, signal);
    // A command may have ended it in the last moment.
    if (await complete(recordings, id, segments, signal)) {
      ended("recording.completed", { segments: segments.length, model: recordings.get(id)?.speechModel });
      countEnd(services, id, startedAt, null);
    } else {
      ended("recording.cancelled", {});
    }
  } catch (error) {
    const left = recordings.get(id);
    if (signal.aborted && left !== null && isOpen(left.status)) {
      ended("recording.parked", {});
      return;
    }
    const trouble = services.waitsForMachine ? machineTrouble(error) : null;
    if (trouble !== null && (await mayWait(services, id, trouble))) throw error;
    const failure = failureOf(error);
    const failed = recordings.fail(id, failure, () => {
      if (failure.reason === "internal") usage.refundAudio(id);
    });
    const detail = messageOf(error);
    // A command that ends a recording has written its failure already.
    if (failed) {
      ended("recording.failed", { ...failure, detail });
      countEnd(services, id, startedAt, failure);
    } else {
      ended("recording.cancelled", {});
    }
  }
  await tidy(services, id);
}

/**
 * The transcript; begun once more where an operation fails without harming the worker. What it needs of earlier steps may
 * have gone from the disk meanwhile: each step looks which of its files are whole, and does again what is missing.
 */
async function wholeTranscript(services: PipelineServices, recording: Recording, signal: AbortSignal) {
  try {
    return await transcript(services, recording, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof EngineOperationError) || machineTrouble(error) !== null) throw error;
    services.log.warn({ event: "recording.again", recordingId: recording.id, detail: messageOf(error) });
    return transcript(services, services.recordings.get(recording.id) ?? recording, signal);
  }
}

/** @param failure null: it is completed */
function countEnd(services: PipelineServices, id: string, startedAt: number, failure: Failure | null): void {
  const { recordings, metrics, now } = services;
  const recording = recordings.get(id);
  metrics.recordings.ended({
    status: failure === null ? "completed" : "failed",
    reason: failure?.reason ?? "",
    cause: failure?.reason === "internal" ? failure.cause : "",
    language: recording?.language ?? "",
    audioSeconds: recording?.durationSeconds ?? 0,
    processingSeconds: (now() - startedAt) / 1000,
  });
}

/**
 * Removes the files of a recording that has ended and what the steps have found, and has the models freed that it alone
 * needed. Who deletes one removes its files, but not what is written after that.
 */
async function tidy(services: PipelineServices, id: string): Promise<void> {
  const { recordings, dataDirectory, workRoom, models, dropsAudio } = services;
  await dataDirectory.removeWorkAside(id);
  workRoom.ended(id);
  if (dropsAudio() || recordings.get(id) === null) await dataDirectory.removeRecordingAside(id);
  await removeWork(recordings, id);
  models.recordingEnded();
}

/**
 * What comes before processing, while the recording is still `queued`: a link is fetched, the account's allowance is asked.
 * @returns null when the recording was ended meanwhile
 */
async function begin(services: PipelineServices, id: string, signal: AbortSignal): Promise<Recording | null> {
  const { recordings, dataDirectory, usage, now } = services;
  const waiting = recordings.get(id);
  if (waiting === null || !isOpen(waiting.status)) return null;
  if (!usage.admit(waiting.accountId, id, services.audioAllowanceSeconds(waiting.accountId), now())) {
    throw new RecordingFailure({ reason: "quota_exceeded" }, "the account has no allowance left today");
  }
  if (waiting.sourceUrl !== null && waiting.sizeBytes === null) {
    recordings.progress(id, "fetch", null);
    const outputPath = dataDirectory.uploadPath(id);
    const sizeBytes = await fetchSource(waiting.sourceUrl, outputPath, services.fetchOptions(), signal);
    recordings.fetched(id, sizeBytes);
  }
  return recordings.claim(id);
}

function failureOf(error: unknown): Failure {
  if (error instanceof RecordingFailure) return error.failure;
  if (error instanceof EngineStalledError) return { reason: "internal", cause: "engine_stalled" };
  if (error instanceof EngineCrashError) return { reason: "internal", cause: "engine_crashed" };
  const trouble = machineTrouble(error)?.kind;
  if (trouble === "no_room" || trouble === "disk_full" || trouble === "read_only") {
    return { reason: "internal", cause: "disk_full" };
  }
  return { reason: "internal", cause: "unexpected" };
}
