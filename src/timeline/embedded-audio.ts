import { SAMPLE_RATE, type Span, secondsOf } from "./spans.ts";

/** Maximum embedded length of a sentence; for a longer sentence, its middle is used. */
const MAX_EMBEDDED_SECONDS = 2.5;

/** The part of a sentence whose voice is embedded. */
interface EmbeddedPart {
  readonly seconds: number;
  readonly firstSample: number;
  readonly sampleCount: number;
}

/** Returns the part of a sentence whose voice is embedded. Its samples may extend beyond the recording's end. */
export function embeddedPart(sentence: Span): EmbeddedPart {
  const seconds = Math.min(secondsOf(sentence), MAX_EMBEDDED_SECONDS);
  const sampleCount = Math.round(seconds * SAMPLE_RATE);
  const middle = Math.round(((sentence.startSeconds + sentence.endSeconds) / 2) * SAMPLE_RATE);
  return { seconds, firstSample: Math.max(0, middle - Math.floor(sampleCount / 2)), sampleCount };
}
