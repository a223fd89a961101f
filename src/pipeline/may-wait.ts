import { Type } from "@sinclair/typebox";
import { Checkpoints } from "../recordings/index.ts";
import { type MachineTrouble, probeWriting } from "../storage/index.ts";
import type { PipelineServices } from "./services.ts";

/** Number of unexplained failures without progress in between; `parts` is the number of finished parts at that time. */
const doubtsSchema = Type.Object({ times: Type.Integer({ minimum: 0 }), parts: Type.Integer({ minimum: 0 }) });

/**
 * Maximum number of unexplained failures without progress. It is reached after about four minutes of retries, see
 * RecordingQueue.
 */
const mostDoubts = 8;

/**
 * Decides whether a recording waits until a problem of the machine is over. If no other recording has the problem,
 * files can be written and there is disk space, the recording may be the cause. It is then retried a few times, and
 * fails unless it makes progress.
 */
export async function mayWait(services: PipelineServices, id: string, trouble: MachineTrouble): Promise<boolean> {
  const { store, dataDirectory, workReservations } = services;
  if (trouble.isConfirmed || workReservations.isDiskFull() || (await probeWriting(dataDirectory.work)) !== null)
    return true;
  const checkpoints = new Checkpoints(store, id);
  const parts = checkpoints.countExcept(["doubts", "tries"]);
  const before = checkpoints.read("doubts", 0, doubtsSchema);
  const times = before?.parts === parts ? before.times + 1 : 1;
  checkpoints.write("doubts", 0, doubtsSchema, { times, parts });
  return times <= mostDoubts;
}
