import { EngineCrashError, EngineStalledError } from "../engine/index.ts";
import {
  Checkpoints,
  type Failure,
  isOpen,
  isServiceFault,
  type Outcome,
  type RecordingEnded,
} from "../recordings/index.ts";
import { machineTrouble } from "../storage/index.ts";
import { messageOf } from "../text/index.ts";
import { removeWork } from "./complete.ts";
import { mayWait } from "./may-wait.ts";
import type { PipelineServices } from "./services.ts";
import { RecordingFailure } from "./step.ts";

/**
 * Runs one attempt at a recording and converts its errors into an outcome. The recording fails, is suspended because the
 * signal was aborted while it is open, or waits because the machine cannot work now.
 * @param work the attempt; resolves with null when a command has ended the recording
 * @throws errors that neither the recording nor the machine caused
 */
export async function attempt(
  services: PipelineServices,
  id: string,
  signal: AbortSignal,
  work: () => Promise<Outcome | "completed">,
): Promise<Outcome> {
  const startedAt = services.now();
  try {
    const outcome = await run(services, id, signal, work);
    if (outcome !== null && "waitsFor" in outcome) return outcome;
    try {
      await cleanUp(services, id);
    } finally {
      services.events.ended(eventOf(services, id, startedAt, outcome));
    }
    return null;
  } catch (error) {
    const trouble = machineTrouble(error);
    if (trouble === null) throw error;
    forgetTries(services, id);
    services.log.warn({ event: "recording.waits", recordingId: id, trouble: trouble.kind, detail: trouble.detail });
    return { waitsFor: trouble.kind };
  }
}

/** How a recording ended; null when a command ended it. */
type End = { readonly failure: Failure | null } | null;

async function run(
  services: PipelineServices,
  id: string,
  signal: AbortSignal,
  work: () => Promise<Outcome | "completed">,
): Promise<NonNullable<Outcome> | End> {
  const { recordings, usage, log, metrics, now } = services;
  const startedAt = now();
  try {
    const outcome = await work();
    return outcome === "completed" ? { failure: null } : outcome;
  } catch (error) {
    const left = recordings.get(id);
    const milliseconds = now() - startedAt;
    if (signal.aborted && left !== null && isOpen(left.status)) {
      log.info({ event: "recording.suspended", recordingId: id, milliseconds });
      metrics.recordings.suspended(milliseconds / 1000);
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
      return { failure };
    }
    log.info({ event: "recording.cancelled", recordingId: id, milliseconds });
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

function eventOf({ recordings, now }: PipelineServices, id: string, startedAt: number, end: End): RecordingEnded {
  const recording = recordings.get(id);
  return {
    id,
    accountId: recording?.accountId ?? null,
    workspaceId: recording?.workspaceId ?? null,
    outcome: end === null ? "cancelled" : end.failure === null ? "completed" : "failed",
    failure: end?.failure ?? null,
    language: recording?.language ?? null,
    durationSeconds: recording?.durationSeconds ?? null,
    processingSeconds: (now() - startedAt) / 1000,
  };
}

/**
 * Removes the work files and step results of a recording that has ended.
 * Deleting a recording removes its files, but not files written after the deletion; this function removes them.
 */
async function cleanUp(services: PipelineServices, id: string): Promise<void> {
  const { recordings, dataDirectory, workReservations, dropsAudio } = services;
  await dataDirectory.filesOf(id).removeWork();
  workReservations.ended(id);
  if (dropsAudio() || recordings.get(id) === null) await dataDirectory.filesOf(id).removeAll();
  await removeWork(recordings, id);
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
