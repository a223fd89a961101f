import { and, eq } from "drizzle-orm";
import { type Store, tables, type Writer } from "../database/index.ts";
import { builtInModels } from "../program/index.ts";

/** The voice of a speaker in a recording. */
export interface SpeakerVoice {
  readonly speaker: number;
  /** Seconds of clean speech that the embedding represents. */
  readonly seconds: number;
  readonly embedding: Float32Array;
}

/** SHA-256 of the embedding model. A voice of another model never matches: its embeddings have other directions. */
export const embeddingModel = builtInModels.embedding.sha256;

/**
 * Stores the voices of a recording's speakers, if its account remembers voices at this moment. Called in the transaction
 * that completes the recording, so that an account that switches them off in between keeps none.
 */
export function storeSpeakerVoices(writer: Writer, recordingId: string, voices: readonly SpeakerVoice[]): void {
  const { accounts, recordings } = tables;
  const owner = writer
    .select({ accountId: accounts.id })
    .from(recordings)
    .innerJoin(accounts, eq(accounts.id, recordings.accountId))
    .where(and(eq(recordings.id, recordingId), eq(accounts.voices, true)))
    .get();
  if (owner === undefined) return;
  for (const { speaker, seconds, embedding } of voices) {
    const row = { recordingId, speaker, ...owner, model: embeddingModel, seconds, embedding: bytesOf(embedding) };
    writer.insert(tables.speakerVoices).values(row).run();
  }
}

/** Returns the voices of a recording's speakers that the model in use has computed, by speaker. */
export function readSpeakerVoices(
  store: Pick<Store, "select">,
  { id, accountId }: { readonly id: string; readonly accountId: string },
): Map<number, SpeakerVoice> {
  const { speakerVoices } = tables;
  const isIt = and(
    eq(speakerVoices.recordingId, id),
    eq(speakerVoices.accountId, accountId),
    eq(speakerVoices.model, embeddingModel),
  );
  const rows = store.select().from(speakerVoices).where(isIt).all();
  return new Map(
    rows.map(({ speaker, seconds, embedding }) => [speaker, { speaker, seconds, embedding: unitVector(embedding) }]),
  );
}

/** Returns the stored form of an embedding: 32-bit floats, the least significant byte first. */
export function bytesOf(embedding: Float32Array): Buffer {
  const bytes = Buffer.alloc(embedding.length * Float32Array.BYTES_PER_ELEMENT);
  for (const [index, value] of embedding.entries()) {
    bytes.writeFloatLE(value, index * Float32Array.BYTES_PER_ELEMENT);
  }
  return bytes;
}

/** Returns a stored embedding at unit length, whatever a backup contained. */
export function unitVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = Math.floor(bytes.byteLength / Float32Array.BYTES_PER_ELEMENT);
  const values = Float64Array.from({ length: size }, (_, index) =>
    view.getFloat32(index * Float32Array.BYTES_PER_ELEMENT, true),
  );
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => (length > 0 ? value / length : 0));
}
