import { Type } from "@sinclair/typebox";
import { Checkpoints } from "../recordings/index.ts";
import { type MachineTrouble, writeTrial } from "../storage/index.ts";
import type { PipelineServices } from "./services.ts";

/** Times that a recording met trouble of which there was no other sign, with so many parts finished. */
const doubtsSchema = Type.Object({ times: Type.Integer({ minimum: 0 }), parts: Type.Integer({ minimum: 0 }) });

/** After about four minutes of tries that got nowhere, see RecordingQueue. */
const mostDoubts = 8;

/**
 * Whether a recording that has met trouble of the machine is to wait for its end. Where nobody else meets it, files can be written
 * and there is room, it may lie in the recording: it is tried a few times more, and fails unless it gets on.
 */
export async function mayWait(services: PipelineServices, id: string, trouble: MachineTrouble): Promise<boolean> {
  const { store, dataDirectory, workRoom } = services;
  if (trouble.isSure || workRoom.isShort() || (await writeTrial(dataDirectory.work)) !== null) return true;
  const checkpoints = new Checkpoints(store, id);
  const parts = checkpoints.countExcept(["doubts", "tries"]);
  const before = checkpoints.read("doubts", 0, doubtsSchema);
  const times = before?.parts === parts ? before.times + 1 : 1;
  checkpoints.write("doubts", 0, doubtsSchema, { times, parts });
  return times <= mostDoubts;
}
