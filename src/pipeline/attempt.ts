import { EngineCrashError, EngineStalledError } from "../engine/index.ts";
import { Checkpoints, type Failure, isOpen, isServiceFault, type Outcome } from "../recordings/index.ts";
import { machineTrouble } from "../storage/index.ts";
import { messageOf } from "../text/index.ts";
import { removeWork } from "./complete.ts";
import { mayWait } from "./may-wait.ts";
import type { PipelineServices } from "./services.ts";
import { RecordingFailure } from "./step.ts";

/**
 * Runs one attempt at a recording and converts its errors into an outcome. The recording fails, is parked because the
 * signal was aborted while it is open, or waits because the machine cannot work now.
 * @param work the attempt; resolves with null when the recording has ended
 * @throws errors that neither the recording nor the machine caused
 */
export async function attempt(
  services: PipelineServices,
  id: string,
  signal: AbortSignal,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    const outcome = await run(services, id, signal, work);
    if (outcome === null) await tidy(services, id);
    return outcome;
  } catch (error) {
    const trouble = machineTrouble(error);
    if (trouble === null) throw error;
    forgetTries(services, id);
    services.log.warn({ event: "recording.waits", recordingId: id, trouble: trouble.kind, detail: trouble.detail });
    return { waitsFor: trouble.kind };
  }
}

async function run(
  services: PipelineServices,
  id: string,
  signal: AbortSignal,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const { recordings, usage, log, metrics, now } = services;
  const startedAt = now();
  try {
    return await work();
  } catch (error) {
    const left = recordings.get(id);
    const milliseconds = now() - startedAt;
    if (signal.aborted && left !== null && isOpen(left.status)) {
      log.info({ event: "recording.parked", recordingId: id, milliseconds });
      metrics.recordings.parked(milliseconds / 1000);
      return { waitsFor: "slot" };
    }
    const trouble = services.waitsForMachine ? machineTrouble(error) : null;
    if (trouble !== null && (await mayWait(services, id, trouble))) throw error;
    const failure = failureOf(error);
    const failed = recordings.fail(id, failure, () => {
      if (isServiceFault(failure)) usage.refundAudio(id);
    });
    // The command that ended the recording has already written its status.
    if (failed) {
      log.info({ event: "recording.failed", recordingId: id, milliseconds, ...failure, detail: messageOf(error) });
      countEnd(services, id, startedAt, failure);
    } else {
      log.info({ event: "recording.cancelled", recordingId: id, milliseconds });
    }
    return null;
  }
}

/**
 * Clears the recorded attempts: the operation in progress did not harm the worker. If the disk does not accept even
 * this write, no operation can start either.
 */
function forgetTries({ store }: PipelineServices, id: string): void {
  try {
    new Checkpoints(store, id).clear("tries");
  } catch (error) {
    if (machineTrouble(error) === null) throw error;
  }
}

/**
 * Counts a recording that has ended in the metrics.
 * @param failure null if the recording is completed
 */
export function countEnd(services: PipelineServices, id: string, startedAt: number, failure: Failure | null): void {
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
 * Removes the work files and step results of a recording that has ended, and releases models that only it needed.
 * Deleting a recording removes its files, but not files written after the deletion; this function removes them.
 */
async function tidy(services: PipelineServices, id: string): Promise<void> {
  const { recordings, dataDirectory, workRoom, models, dropsAudio } = services;
  await dataDirectory.filesOf(id).removeWork();
  workRoom.ended(id);
  if (dropsAudio() || recordings.get(id) === null) await dataDirectory.filesOf(id).removeAll();
  await removeWork(recordings, id);
  models.recordingEnded();
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
