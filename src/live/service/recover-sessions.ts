import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type LiveRows, type OpenRow, parseNames, parseOptions } from "../store/index.ts";
import type { EndedSession } from "./finish-session.ts";
import type { LiveServices } from "./services.ts";
import type { StartedSession } from "./start-session.ts";

const BYTES_PER_SAMPLE = 2;

/** A session of an earlier server that can be resumed. */
export type FoundSession = Omit<StartedSession, "onEnding" | "onEnded"> &
  Pick<OpenRow, "workspaceId" | "holder" | "createdAt"> &
  Pick<EndedSession, "place" | "sampleCount">;

/**
 * Finds the sessions that an earlier server suspended, or that a crash interrupted. Removes what is left of others: of
 * sessions that are not kept, and of those that were deleted or have become recordings.
 */
export function recoverSessions(
  { dataDirectory, intake, usage }: Pick<LiveServices, "dataDirectory" | "intake" | "usage">,
  rows: LiveRows,
): { readonly found: readonly FoundSession[]; readonly ended: readonly EndedSession[] } {
  const open = new Map(rows.listOpen().map((row) => [row.id, row]));
  const found: FoundSession[] = [];
  const ended: EndedSession[] = [];
  for (const row of [...open.values()]) {
    const { id, accountId, workspaceId, holder, createdAt } = row;
    const options = parseOptions(row.options);
    const bytes = statSync(dataDirectory.liveFilesOf(id).pcm, { throwIfNoEntry: false })?.size ?? 0;
    const sampleCount = Math.floor(bytes / BYTES_PER_SAMPLE);
    // Also of a backup, which has no sound of sessions.
    if (sampleCount === 0) {
      usage.refundAudio(id);
      rows.remove(id);
      open.delete(id);
      continue;
    }
    const place = intake.limits.readmit({ id: accountId });
    if (row.endReason !== null) {
      ended.push({ id, accountId, workspaceId, createdAt, options, sampleCount, place });
      continue;
    }
    const settledSample = Math.min(row.settledSamples, sampleCount);
    found.push({
      ...{ id, accountId, workspaceId, holder, createdAt, options, place, sampleCount },
      nextNumber: rows.nextNumber(id),
      names: parseNames(row.speakerNames),
      earlier: { settledSample, segments: () => rows.segments(id, 0) },
    });
  }
  for (const name of readdirSync(dataDirectory.live)) {
    if (!open.has(name)) rmSync(join(dataDirectory.live, name), { recursive: true, force: true });
  }
  return { found, ended };
}
