import { and, count, eq, inArray } from "drizzle-orm";
import { tables, type Writer } from "../database/index.ts";
import { similarityOf } from "./propose.ts";
import { bytesOf, type SpeakerVoice, unitVector } from "./speaker-voices.ts";
import { VoicesError } from "./voices-error.ts";

/**
 * Maximum number of examples of a voice: the latest one, and the others with most speech. Five recordings cover the microphones and rooms in which
 * somebody is usually recorded.
 */
const MAX_EXAMPLES = 5;
/**
 * Minimum similarity of a speaker to a voice for becoming a further example of it. The least similar recordings of one
 * person had 0.48 in the corpus, and two people of one name should not become one voice.
 */
const MIN_EXAMPLE_SIMILARITY = 0.4;

/** Adds a speaker to the examples of a voice. @throws {VoicesError} `different_voice` if it does not resemble the others */
export function addExample(writer: Writer, voiceId: string, recordingId: string, voice: SpeakerVoice): void {
  const { voiceExamples } = tables;
  const others = writer.select().from(voiceExamples).where(eq(voiceExamples.voiceId, voiceId)).all();
  if (others.length > 0 && similarityOf(meanOf(others), voice.embedding) < MIN_EXAMPLE_SIMILARITY) {
    throw new VoicesError("different_voice");
  }
  const { speaker, seconds } = voice;
  writer
    .insert(voiceExamples)
    .values({ voiceId, recordingId, speaker, seconds, embedding: bytesOf(voice.embedding) })
    .run();
  // Of one recording, the speaker chosen last counts.
  const surplus = others
    .toSorted((a, b) => b.seconds - a.seconds)
    .filter((other, index) => other.recordingId === recordingId || index >= MAX_EXAMPLES - 1)
    .map(({ id }) => id);
  writer.delete(voiceExamples).where(inArray(voiceExamples.id, surplus)).run();
}

export function countExamples(reader: Pick<Writer, "select">, voiceId: string): number {
  const { voiceExamples } = tables;
  const found = reader.select({ number: count() }).from(voiceExamples).where(eq(voiceExamples.voiceId, voiceId)).get();
  return found?.number ?? 0;
}

/** Removes a speaker of a recording from all voices, and the voices that have no other example. */
export function removeExamples(writer: Writer, recordingId: string, speaker: number): void {
  const { voices, voiceExamples } = tables;
  const isIt = and(eq(voiceExamples.recordingId, recordingId), eq(voiceExamples.speaker, speaker));
  const removed = writer.delete(voiceExamples).where(isIt).returning({ id: voiceExamples.voiceId }).all();
  for (const { id } of removed) {
    if (countExamples(writer, id) === 0) writer.delete(voices).where(eq(voices.id, id)).run();
  }
}

/** Returns the mean of examples weighted by their speech, of unit length. */
export function meanOf(
  examples: readonly { readonly seconds: number; readonly embedding: Uint8Array }[],
): Float32Array {
  const sum = new Float32Array(Math.max(...examples.map(({ embedding }) => embedding.byteLength)) / 4);
  for (const { seconds, embedding } of examples) {
    for (const [index, value] of unitVector(embedding).entries()) sum[index] = (sum[index] ?? 0) + seconds * value;
  }
  return unitVector(bytesOf(sum));
}
