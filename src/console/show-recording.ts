import { timestamp } from "../http/index.ts";
import type { Recording } from "../recordings/index.ts";
import { machineTroubles } from "../storage/index.ts";
import type { ListedRecording } from "./contract/recordings.ts";
import type { Owners } from "./owners.ts";
import type { ConsoleServices } from "./services.ts";

export function showProgress({ status, step, percent }: Recording): ListedRecording["progress"] {
  if (status === "completed") return { step: null, percent: 100, indeterminate: false };
  if (status === "failed" || step === null) return { step: null, percent: null, indeterminate: false };
  return { step, percent, indeterminate: percent === null };
}

export function showRecording(recording: Recording, owners: Owners): ListedRecording {
  const { failureReason, failureCause } = recording;
  return {
    id: recording.id,
    status: recording.status,
    source: { name: recording.sourceName, url: recording.sourceUrl },
    account: owners.accountOf(recording),
    workspace: owners.workspaceOf(recording),
    language: recording.language,
    duration_seconds: recording.durationSeconds,
    created_at: timestamp(recording.createdAt),
    updated_at: timestamp(recording.updatedAt),
    progress: showProgress(recording),
    failure: failureReason === null ? null : { reason: failureReason, cause: failureCause },
    held: recording.heldAt !== null,
  };
}

/** Returns the problem that keeps a recording from being processed, in plain words; null if there is none. */
export function troubleOf({ queue }: Pick<ConsoleServices, "queue">, recordingId: string): string | null {
  const trouble = queue.troubleOf(recordingId);
  return trouble === null ? null : machineTroubles[trouble];
}
