import { type Static, Type } from "@sinclair/typebox";

/** Samples per second of all PCM that the engine reads. */
export const SAMPLE_RATE = 16_000;

// The schemas of a recording's parts, which server and worker exchange. Both sides read the audio from the PCM file.

/** A time from the start of the recording. */
const seconds = Type.Number({ minimum: 0 });

/** A raw file of 16 kHz mono signed 16-bit little-endian samples. */
export const pcmFileSchema = Type.Object({
  path: Type.String({ minLength: 1 }),
  /** Number of samples in the recording. Samples beyond the end are read as silence. */
  sampleCount: Type.Integer({ minimum: 0 }),
});
export type PcmFile = Static<typeof pcmFileSchema>;

/**
 * The stored data of one track: its PCM, and the block files that operations write. Besides models, an operation of the
 * engine uses no other files. The area is the work directory of a recording, or a directory on another machine with the
 * items that an operation needs.
 */
export const workAreaSchema = Type.Object({
  directory: Type.String({ minLength: 1 }),
  pcm: pcmFileSchema,
});
export type WorkArea = Static<typeof workAreaSchema>;

/** A part of a recording between two moments. */
export const spanSchema = Type.Object({ startSeconds: seconds, endSeconds: seconds });
export type Span = Static<typeof spanSchema>;

/** Returns the duration of a span. */
export function secondsOf({ startSeconds, endSeconds }: Span): number {
  return endSeconds - startSeconds;
}

/** Returns the duration of the time that two spans share; 0 if they are apart. */
export function sharedSeconds(one: Span, other: Span): number {
  return Math.max(0, Math.min(one.endSeconds, other.endSeconds) - Math.max(one.startSeconds, other.startSeconds));
}

/** Returns a copy of a span that is `bySeconds` later. */
export function shifted<S extends Span>(span: S, bySeconds: number): S {
  return { ...span, startSeconds: span.startSeconds + bySeconds, endSeconds: span.endSeconds + bySeconds };
}

/** Maximum embedded length of a sentence; for a longer sentence, its middle is used. */
const MAX_EMBEDDED_SECONDS = 2.5;

/** Returns the part of a sentence whose voice is embedded. Its samples may extend beyond the recording's end. */
export function embeddedPart(sentence: Span) {
  const seconds = Math.min(secondsOf(sentence), MAX_EMBEDDED_SECONDS);
  const sampleCount = Math.round(seconds * SAMPLE_RATE);
  const middle = Math.round(((sentence.startSeconds + sentence.endSeconds) / 2) * SAMPLE_RATE);
  return { seconds, firstSample: Math.max(0, middle - Math.floor(sampleCount / 2)), sampleCount };
}

/** A part of a recording with at most 30 s of speech, see transcribedSpans. It is transcribed in one operation. */
export const chunkSchema = Type.Object({
  ...spanSchema.properties,
  /** Its speech spans, in order. */
  speech: Type.Array(spanSchema),
});
export type Chunk = Static<typeof chunkSchema>;

/** A speaker turn: a span in which one speaker speaks. */
export const turnSchema = Type.Object({
  ...spanSchema.properties,
  /** Speaker number, from 0 in order of first appearance. */
  speaker: Type.Integer({ minimum: 0 }),
});
export type Turn = Static<typeof turnSchema>;

/** A word that the recognizer found. */
export const wordSchema = Type.Object({
  /** The word, with its leading space in languages that separate words by spaces. */
  text: Type.String(),
  ...spanSchema.properties,
  probability: Type.Number({ minimum: 0, maximum: 1 }),
  /** False when the probability is not comparable with Whisper's. */
  isCalibrated: Type.Optional(Type.Literal(false)),
});
export type EngineWord = Static<typeof wordSchema>;
