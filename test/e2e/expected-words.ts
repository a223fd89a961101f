import { readPcm } from "../../src/speech/diarization/index.ts";
import { placeWords } from "../../src/speech/place-words.ts";
import { cutWindows } from "../../src/speech/recognizer/parakeet/windows.ts";
import { toWords } from "../../src/speech/recognizer/parakeet/words.ts";
import { type Chunk, type EngineWord, SAMPLE_RATE, shifted, transcribedSpans } from "../../src/timeline/index.ts";
import { type ReferenceModel, transcribeByReference } from "../support/parakeet/index.ts";

/**
 * Returns the words that the implementation in 64 bits recognizes in a chunk without long silences, at their times in
 * the recording, and by how much the closest choice was ahead of the next best one.
 * @param path decoded recording, 16 kHz mono
 */
export async function expectedWords(
  model: ReferenceModel,
  path: string,
  chunk: Chunk,
): Promise<{ words: Omit<EngineWord, "probability">[]; margin: number }> {
  const spans = transcribedSpans(chunk);
  const pcm = { path, sampleCount: Bun.file(path).size / 2 };
  const first = Math.floor(chunk.startSeconds * SAMPLE_RATE);
  const samples = await readPcm(pcm, first, Math.ceil(chunk.endSeconds * SAMPLE_RATE) - first);
  const words: EngineWord[] = [];
  let margin = Number.POSITIVE_INFINITY;
  for (const { first: from, end } of cutWindows(samples)) {
    const result = transcribeByReference(model, samples.subarray(from, end));
    const tokens = result.tokens.map((token) => ({ ...token, probability: 1 }));
    const found = toWords(tokens, model.pieces, (end - from) / SAMPLE_RATE);
    words.push(...found.map((word) => shifted(word, from / SAMPLE_RATE)));
    margin = Math.min(margin, result.margin);
  }
  const placed = placeWords(words, chunk, spans, samples);
  return { words: placed.map(({ text, startSeconds, endSeconds }) => ({ text, startSeconds, endSeconds })), margin };
}
