import type { PipelineServices } from "./services.ts";

type WithdrawalServices = Pick<PipelineServices, "recordings" | "usage" | "dataDirectory">;

/**
 * Cancels a transient recording and refunds its charge, unless it has ended, then removes all of it. A recording that
 * the operator protects from deletion is kept instead. A queue that processes the recording removes later files itself.
 */
export async function withdrawRecording(services: WithdrawalServices, id: string): Promise<void> {
  const { recordings, usage, dataDirectory } = services;
  recordings.fail(id, { reason: "internal", cause: "cancelled" }, () => usage.refundAudio(id));
  if (!recordings.delete(id)) {
    recordings.keep(id);
    return;
  }
  await dataDirectory.filesOf(id).removeAll();
  await recordings.rows.removeDeleted(id);
}

/**
 * Withdraws the transient recordings of an earlier server: their clients are gone, and their charges are refunded. Call
 * it before the queue resumes recordings.
 * @param isKept whether recordings without a waiting client are kept
 */
export async function withdrawLeft(services: WithdrawalServices, isKept: boolean): Promise<void> {
  const { recordings, usage } = services;
  for (const id of recordings.transientIds()) {
    if (isKept) {
      recordings.keep(id);
      continue;
    }
    usage.refundAudio(id);
    await withdrawRecording(services, id);
  }
}
