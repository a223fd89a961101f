import { Type } from "@sinclair/typebox";
import type { Recording } from "../database/index.ts";
import { type MachineTrouble, machineTrouble, probeWriting } from "../disk/index.ts";
import { EngineCrashError, EngineStalledError } from "../engine/index.ts";
import type { Outcome } from "../queue/index.ts";
import { Checkpoints, type Failure, isOpen, isServiceFault } from "../recordings/index.ts";
import { messageOf } from "../text/index.ts";
import { removeWork } from "./complete.ts";
import type { PipelineServices } from "./services.ts";
import { RecordingFailure } from "./step.ts";

/** A completed recording, as it was before: a rerun is deleted when it completes. */
interface Completed {
  readonly completed: Recording;
}

/** One attempt at a recording; resolves with null when a command has ended the recording. */
type Attempt = () => Promise<Outcome | Completed>;

/** The end of a recording; a failure unless it was completed, or ended by a command. */
type End = Completed | "cancelled" | Failure;

/**
 * Runs one attempt at a recording and converts its errors into an outcome. The recording fails, is suspended because
 * the signal was aborted while it is open, or waits because the machine cannot work now.
 * @throws errors that neither the recording nor the machine caused
 */
export async function attempt(
  services: PipelineServices,
  id: string,
  signal: AbortSignal,
  work: Attempt,
): Promise<Outcome> {
  const startedAt = services.now();
  try {
    const end = await run(services, id, signal, work, startedAt);
    if (typeof end === "object" && "waitsFor" in end) return end;
    try {
      await cleanUp(services, id);
    } finally {
      publishEnd(services, id, startedAt, end);
    }
    return null;
  } catch (error) {
    const trouble = machineTrouble(error);
    if (trouble === null) throw error;
    forgetAttempts(services, id);
    services.log.warn({ event: "recording.waits", recordingId: id, trouble: trouble.kind, detail: trouble.detail });
    return { waitsFor: trouble.kind };
  }
}

async function run(
  services: PipelineServices,
  id: string,
  signal: AbortSignal,
  work: Attempt,
  startedAt: number,
): Promise<NonNullable<Outcome> | End> {
  const { recordings, usage, log, metrics, now } = services;
  try {
    return (await work()) ?? "cancelled";
  } catch (error) {
    const recording = recordings.get(id);
    const milliseconds = now() - startedAt;
    if (signal.aborted && recording !== null && isOpen(recording.status)) {
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
    if (!failed) {
      log.info({ event: "recording.cancelled", recordingId: id, milliseconds });
      return "cancelled";
    }
    log.info({ event: "recording.failed", recordingId: id, milliseconds, ...failure, detail: messageOf(error) });
    return failure;
  }
}

/** The checkpoint `doubts`: unexplained failures without progress in between, and the finished parts at that time. */
const doubtsSchema = Type.Object({ times: Type.Integer({ minimum: 0 }), parts: Type.Integer({ minimum: 0 }) });
/** Maximum number of unexplained failures: about four minutes of retries, see RecordingQueue. */
const MAX_DOUBTS = 8;

/**
 * Decides whether a recording waits until a problem of the machine is over. If no other recording has the problem,
 * files can be written and there is disk space, the recording may be the cause. It is then retried a few times, and
 * fails unless it makes progress.
 */
async function mayWait(services: PipelineServices, id: string, trouble: MachineTrouble): Promise<boolean> {
  const { store, dataDirectory, workReservations } = services;
  if (trouble.isConfirmed || workReservations.isDiskFull() || (await probeWriting(dataDirectory.work)) !== null)
    return true;
  const checkpoints = new Checkpoints(store, id);
  const parts = checkpoints.countExcept(["doubts", "tries"]);
  const before = checkpoints.read("doubts", 0, doubtsSchema);
  const times = before?.parts === parts ? before.times + 1 : 1;
  checkpoints.write("doubts", 0, doubtsSchema, { times, parts });
  return times <= MAX_DOUBTS;
}

/** Clears the stored attempts, because the operation in progress did not harm the worker. */
function forgetAttempts({ store }: PipelineServices, id: string): void {
  try {
    new Checkpoints(store, id).clear("tries");
  } catch (error) {
    // If the disk does not accept even this write, no operation can start either.
    if (machineTrouble(error) === null) throw error;
  }
}

/** Counts the end of a recording, which its transaction has stored, and tells the other parts of the server. */
function publishEnd(services: PipelineServices, id: string, startedAt: number, end: End): void {
  const { recordings, events, metrics, now } = services;
  const completed = typeof end === "object" && "completed" in end ? end.completed : null;
  const failure = typeof end === "object" && "reason" in end ? end : null;
  const recording = completed ?? recordings.get(id);
  metrics.recordings.ended({
    outcome: completed !== null ? "completed" : failure !== null ? "failed" : "cancelled",
    failure,
    language: recording?.language ?? null,
    durationSeconds: recording?.durationSeconds ?? null,
    processingSeconds: (now() - startedAt) / 1000,
  });
  events.deliver();
}

/**
 * Removes work files and step results, and of a deleted recording also files and rows written after the deletion. A rerun
 * is deleted when it completes.
 */
async function cleanUp(services: PipelineServices, id: string): Promise<void> {
  const { recordings, dataDirectory, workReservations, dropsAudio } = services;
  await dataDirectory.filesOf(id).removeWork();
  workReservations.ended(id);
  const recording = recordings.get(id);
  const isDeleted = recording === null;
  if (isDeleted || dropsAudio(recording.accountId)) await dataDirectory.removeFiles(id);
  if (isDeleted) await recordings.rows.removeDeleted([id]);
  else await removeWork(recordings, id);
}

function failureOf(error: unknown): Failure {
  if (error instanceof RecordingFailure) return error.failure;
  if (error instanceof EngineStalledError) return { reason: "internal", cause: "engine_stalled" };
  if (error instanceof EngineCrashError) return { reason: "internal", cause: "engine_crashed" };
  const trouble = machineTrouble(error)?.kind;
  const isDisk = trouble === "no_room" || trouble === "disk_full" || trouble === "read_only";
  return { reason: "internal", cause: isDisk ? "disk_full" : "unexpected" };
}
