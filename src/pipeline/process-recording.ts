import type { Recording } from "../database/index.ts";
import { machineTrouble } from "../disk/index.ts";
import { EngineOperationError } from "../engine/index.ts";
import type { Outcome } from "../queue/index.ts";
import { isOpen } from "../recordings/index.ts";
import { respellSegments } from "../replacements/index.ts";
import { messageOf } from "../text/index.ts";
import { attempt } from "./attempt.ts";
import { complete } from "./complete.ts";
import type { PipelineServices } from "./services.ts";
import { quotaExceeded } from "./step.ts";
import { transcript } from "./transcript.ts";

/**
 * Processes a stored recording from its last checkpoint: decode → detect → transcribe → diarize → finalize. It ends as
 * `completed` or `failed`, is suspended if the signal aborts while it is open, or waits if the machine cannot work.
 * @throws errors that neither the recording nor the machine caused
 */
export function processRecording(services: PipelineServices, id: string, signal: AbortSignal): Promise<Outcome> {
  return attempt(services, id, signal, async () => {
    const { recordings, log, now } = services;
    const startedAt = now();
    const recording = begin(services, id);
    if (recording === null) return null;
    const { rerunOf } = recording;
    log.info({ event: "recording.started", recordingId: id, ...(rerunOf === null ? {} : { rerunOf }) });
    const found = await transcriptWithRetry(services, recording, signal);
    const ended = { recordingId: id, milliseconds: now() - startedAt };
    const completed = recordings.get(id);
    const models = recordings.rows.modelsOf(id);
    // A command may have ended the recording during the last step.
    const { store } = services;
    const respelled = await respellSegments(store, recording.accountId, found.segments, signal);
    if (completed !== null && (await complete(recordings, id, found, signal, respelled))) {
      const { speechModel: model } = completed;
      log.info({ event: "recording.completed", ...ended, segments: found.segments.length, model, models });
      return { completed };
    }
    log.info({ event: "recording.cancelled", ...ended });
    return null;
  });
}

/** Checks the allowance and claims the recording; null if it has ended. @throws {RecordingFailure} `quota_exceeded` */
function begin(services: PipelineServices, id: string): Recording | null {
  const { recordings, usage, now } = services;
  const waiting = recordings.get(id);
  if (waiting === null || !isOpen(waiting.status)) return null;
  const { accountId } = waiting;
  if (!usage.admit(accountId, id, services.audioAllowanceSeconds(accountId), now())) throw quotaExceeded();
  const claimed = recordings.claim(id);
  // A command has ended the recording since it was read.
  if (claimed === null) usage.refundAudio(id);
  return claimed;
}

/**
 * Produces the transcript, and retries once if an operation fails without harm to the worker. Files of earlier steps
 * may have disappeared from the disk, and each step recreates its missing files.
 */
async function transcriptWithRetry(services: PipelineServices, recording: Recording, signal: AbortSignal) {
  try {
    return await transcript(services, recording, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof EngineOperationError) || machineTrouble(error) !== null) throw error;
    services.log.warn({ event: "recording.retried", recordingId: recording.id, detail: messageOf(error) });
    return transcript(services, services.recordings.get(recording.id) ?? recording, signal);
  }
}
