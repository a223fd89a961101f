import { type Static, Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import { tables, type Writer } from "../database/index.ts";

const count = Type.Integer({ minimum: 1 });
const optionalText = Type.Union([Type.String(), Type.Null()]);
const optionalCount = Type.Union([count, Type.Null()]);

export const transcriptFactsSchema = Type.Object({
  /** ISO 639. */
  language: optionalText,
  speechModel: optionalText,
  speechModelSha256: optionalText,
  /** The decoded audio track, from 1, the number of audio tracks of the file, and the decoded length. */
  audioTrack: optionalCount,
  audioTracks: optionalCount,
  durationSeconds: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  /** Numbers of parts that each speech model recognized, and that each machine of a fleet computed. */
  models: Type.Array(Type.Object({ model: Type.String(), parts: count })),
  machines: Type.Array(Type.Object({ machine: Type.String(), parts: count })),
});
/** Facts about how a transcript was made. They change with a rerun, and return with the transcript before it. */
export type TranscriptFacts = Static<typeof transcriptFactsSchema>;

const { recordings, recordingModels, recordingMachines } = tables;

/** The facts that are columns of a recording. */
const columns = {
  language: recordings.language,
  speechModel: recordings.speechModel,
  speechModelSha256: recordings.speechModelSha256,
  audioTrack: recordings.audioTrack,
  audioTracks: recordings.audioTracks,
  durationSeconds: recordings.durationSeconds,
};

/**
 * Returns the facts about the latest transcript of a recording.
 * @throws {Error} when there is no such recording
 */
export function readFacts(writer: Writer, recordingId: string): TranscriptFacts {
  const row = writer.select(columns).from(recordings).where(eq(recordings.id, recordingId)).get();
  if (row === undefined) throw new Error("there is no such recording");
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
  return { ...row, models, machines };
}

/** Replaces the facts about the latest transcript of a recording. */
export function writeFacts(writer: Writer, recordingId: string, facts: TranscriptFacts): void {
  const { models, machines, ...row } = facts;
  writer.update(recordings).set(row).where(eq(recordings.id, recordingId)).run();
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
