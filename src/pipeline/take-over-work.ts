import { Checkpoints } from "../recordings/index.ts";
import { machineTrouble } from "../storage/index.ts";
import { reserveForDecoded } from "./decode.ts";
import type { PipelineServices } from "./services.ts";

/**
 * Takes over the unfinished work of an earlier server. Reserves disk space for recordings with decoded audio before any
 * other recording asks for it, and removes the files of interrupted decodes. Must be called before any recording is
 * processed.
 */
export async function takeOverWork({
  store,
  recordings,
  dataDirectory,
  workReservations,
}: Pick<PipelineServices, "store" | "recordings" | "dataDirectory" | "workReservations">): Promise<void> {
  const { processing, queued } = recordings.open.list();
  const cutOff = [...processing, ...queued].filter(
    ({ id }) => !reserveForDecoded(new Checkpoints(store, id), id, workReservations),
  );
  try {
    for (const { id } of cutOff) await dataDirectory.filesOf(id).removeWork();
  } catch (error) {
    // If the disk cannot be written, the remaining files do no harm.
    if (machineTrouble(error) === null) throw error;
  }
}
