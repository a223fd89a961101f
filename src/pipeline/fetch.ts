import { join } from "node:path";
import { fetchRecording } from "../media/index.ts";
import type { Outcome } from "../queue/index.ts";
import { isOpen } from "../recordings/index.ts";
import { attempt } from "./attempt.ts";
import type { PipelineServices } from "./services.ts";
import { quotaExceeded, RecordingFailure, withMediaFailure } from "./step.ts";

/**
 * Runs the step `fetch`: downloads the recording behind a link while it is `queued`, outside the processing slots. The
 * download is not charged, but an account without allowance is refused before it.
 * @returns null when the recording has ended; otherwise it waits for a slot, or for the machine
 * @throws errors that neither the recording nor the machine caused
 */
export function fetchLink(services: PipelineServices, id: string, signal: AbortSignal): Promise<Outcome> {
  return attempt(services, id, signal, async () => {
    const { recordings, dataDirectory, usage, log, now } = services;
    const waiting = recordings.get(id);
    if (waiting === null || !isOpen(waiting.status)) return null;
    const { accountId, sourceUrl, sizeBytes } = waiting;
    if (sourceUrl === null || sizeBytes !== null) return { waitsFor: "slot" };
    if (!usage.hasAllowance(accountId, services.audioAllowanceSeconds(accountId), now())) throw quotaExceeded();
    const { enabled, ...options } = services.fetchOptions();
    if (!enabled) {
      throw new RecordingFailure({ reason: "internal", cause: "fetch_blocked_address" }, "links are turned off");
    }
    const startedAt = now();
    recordings.progress(id, "fetch", null);
    const outputPath = join(dataDirectory.incoming, id);
    const fetched = await fetchRecording({ ...options, url: new URL(sourceUrl), outputPath, signal }).catch(
      (error: unknown) => {
        throw withMediaFailure(error);
      },
    );
    await dataDirectory.audio.prepare(outputPath);
    await dataDirectory.audio.put(id, outputPath);
    // A command may have ended the recording during the download.
    if (!recordings.fetched(id, fetched)) return null;
    const milliseconds = now() - startedAt;
    log.info({ event: "recording.fetched", recordingId: id, milliseconds, sizeBytes: fetched });
    return { waitsFor: "slot" };
  });
}
