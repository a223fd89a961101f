import type { Recordings } from "../recordings/index.ts";
import type { DataDirectory } from "../storage/index.ts";

export interface RemovalServices {
  readonly recordings: Recordings;
  readonly dataDirectory: DataDirectory;
  /** Ends the exports of recordings that are deleted. Only a server has any. */
  readonly endExports?: () => void;
}

/**
 * Removes all that is left of recordings that were marked as deleted, which made them invisible: their reruns, searchable
 * texts, exports in progress, files, and finally their rows, the record last. A removal that was interrupted anywhere is
 * therefore continued by `finishRemovals`.
 */
export async function finishRemoval(
  { recordings, dataDirectory, endExports = () => {} }: RemovalServices,
  deleted: readonly string[],
): Promise<void> {
  if (deleted.length === 0) return;
  const ids = recordings.reruns.withReruns(deleted);
  await recordings.rows.removeSearchable(ids);
  endExports();
  for (const id of ids) await dataDirectory.removeFiles(id);
  await dataDirectory.audio.sync();
  await recordings.rows.removeDeleted(ids);
}

/** Continues all removals that were interrupted. */
export async function finishRemovals(services: RemovalServices): Promise<void> {
  await finishRemoval(services, services.recordings.deletedIds());
}
