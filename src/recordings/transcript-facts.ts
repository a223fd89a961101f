import { type Static, Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import { tables, type Writer } from "../storage/index.ts";

const parts = Type.Integer({ minimum: 1 });
const optionalText = Type.Union([Type.String(), Type.Null()]);

export const transcriptFactsSchema = Type.Object({
  /** ISO 639. */
  language: optionalText,
  speechModel: optionalText,
  speechModelSha256: optionalText,
  /** Numbers of parts that each speech model recognized, and that each machine of a fleet computed. */
  models: Type.Array(Type.Object({ model: Type.String(), parts })),
  machines: Type.Array(Type.Object({ machine: Type.String(), parts })),
});
/** Facts about how a transcript was made. They change with a rerun, and return with the transcript before it. */
export type TranscriptFacts = Static<typeof transcriptFactsSchema>;

const { recordings, recordingModels, recordingMachines } = tables;

/** Returns the facts about the latest transcript of a recording. */
export function readFacts(writer: Writer, recordingId: string): TranscriptFacts {
  const { language, speechModel, speechModelSha256 } = recordings;
  const columns = writer
    .select({ language, speechModel, speechModelSha256 })
    .from(recordings)
    .where(eq(recordings.id, recordingId))
    .get();
  const models = writer
    .select({ model: recordingModels.model, parts: recordingModels.parts })
    .from(recordingModels)
    .where(eq(recordingModels.recordingId, recordingId))
    .all();
  const machines = writer
    .select({ machine: recordingMachines.machine, parts: recordingMachines.parts })
    .from(recordingMachines)
    .where(eq(recordingMachines.recordingId, recordingId))
    .all();
  return { ...(columns ?? { language: null, speechModel: null, speechModelSha256: null }), models, machines };
}

/** Replaces the facts about the latest transcript of a recording. */
export function writeFacts(writer: Writer, recordingId: string, facts: TranscriptFacts): void {
  const { models, machines, ...columns } = facts;
  writer.update(recordings).set(columns).where(eq(recordings.id, recordingId)).run();
  writer.delete(recordingModels).where(eq(recordingModels.recordingId, recordingId)).run();
  writer.delete(recordingMachines).where(eq(recordingMachines.recordingId, recordingId)).run();
  for (const each of models)
    writer
      .insert(recordingModels)
      .values({ recordingId, ...each })
      .run();
  for (const each of machines)
    writer
      .insert(recordingMachines)
      .values({ recordingId, ...each })
      .run();
}
