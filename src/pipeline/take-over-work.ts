import { Checkpoints } from "../recordings/index.ts";
import { machineTrouble } from "../storage/index.ts";
import { keepRoomOfDecoded } from "./decode.ts";
import type { PipelineServices } from "./services.ts";

/**
 * Takes over what an earlier server left of its work: recordings whose sound is decoded have room before any other asks, and
 * files of decodes that were cut off are removed. Call it before any recording is processed.
 */
export function takeOverWork({
  store,
  recordings,
  dataDirectory,
  workRoom,
}: Pick<PipelineServices, "store" | "recordings" | "dataDirectory" | "workRoom">): void {
  const { processing, queued } = recordings.open.list();
  const cutOff = [...processing, ...queued].filter(
    ({ id }) => !keepRoomOfDecoded(new Checkpoints(store, id), id, workRoom),
  );
  try {
    for (const { id } of cutOff) dataDirectory.removeWork(id);
  } catch (error) {
    // What a disk that can't be written keeps does no harm.
    if (machineTrouble(error) === null) throw error;
  }
}
