import { ffmpegPath } from "../../harness/checkout.ts";
import { Usage } from "../../src/accounts/index.ts";
import { parseAllowList } from "../../src/media/index.ts";
import type { PipelineServices } from "../../src/pipeline/index.ts";
import { RecordingEvents } from "../../src/recordings/index.ts";
import { type DiskSpace, WorkReservations } from "../../src/storage/index.ts";
import { metricsWithoutEngine } from "../support/metrics-without-engine.ts";

/** Stands for a service that a test must not use. */
export function unused(): never {
  throw new Error("this service must not be used");
}

/** Stands for the models of a pipeline that must not use any. */
export const unusedModels: PipelineServices["models"] = {
  current: unused,
  find: unused,
  companionOf: unused,
  routes: unused,
  languagesOf: unused,
  sha256Of: unused,
  admit: unused,
  encoderOf: unused,
  knownEncoderOf: unused,
};

/** Returns the services of a pipeline that has just started. Its recordings contain no speech, so no model is used. */
export function quietServices(
  given: Pick<PipelineServices, "store" | "recordings" | "dataDirectory" | "log"> & { run: unknown; room: DiskSpace },
): PipelineServices {
  const { run, room, ...stored } = given;
  const { store, recordings, dataDirectory } = stored;
  const metrics = metricsWithoutEngine({ recordings, dataPaths: dataDirectory, now: Date.now });
  const events = new RecordingEvents(store, stored.log);
  return {
    ...{ ...stored, now: Date.now, usage: new Usage(store) },
    metrics,
    events,
    engine: { run, partsAtOnce: 1 } as PipelineServices["engine"],
    models: unusedModels,
    fetchOptions: () => ({
      enabled: true,
      ...{ allow: parseAllowList([]), maxBytes: 1, maxSeconds: 1, stallSeconds: 1, userAgent: "test" },
      reserveSpace: (bytes) => room.reserve(bytes, "intake"),
    }),
    decodeOptions: () => ({ ffmpegPath, maxSeconds: 3600 }),
    workReservations: new WorkReservations(room),
    audioAllowanceSeconds: () => 1_000_000,
    dropsAudio: () => false,
    waitsForMachine: true,
  };
}
