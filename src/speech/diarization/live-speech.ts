import { LOCAL_SPEAKERS, WINDOW_FRAMES, WINDOW_SAMPLES } from "../../blocks/index.ts";
import { type PcmFile, SAMPLE_RATE, type Span } from "../../timeline/index.ts";
import { longEnough } from "./embed-block.ts";
import { type DiarizationModels, embedAll, segment } from "./models.ts";
import { readPcm } from "./read-pcm.ts";
import { removeChannel } from "./remove-channel.ts";
import { addScaled, unit } from "./similarity.ts";

/**
 * Returns the probability that anyone speaks, for each frame of the window that ends at a sample. Before the first
 * sample there is silence.
 */
export async function detectSpeech(models: DiarizationModels, pcm: PcmFile, endSample: number): Promise<number[]> {
  const firstSample = Math.max(0, endSample - WINDOW_SAMPLES);
  const window = new Float32Array(WINDOW_SAMPLES);
  const samples = await readPcm(pcm, firstSample, endSample - firstSample);
  window.set(samples, WINDOW_SAMPLES - samples.length);
  const probabilities = await segment(models, window);
  return Array.from({ length: WINDOW_FRAMES }, (_, frame) => {
    const ofSpeakers = probabilities.subarray(frame * LOCAL_SPEAKERS, (frame + 1) * LOCAL_SPEAKERS);
    return Math.min(1, Math.max(0, ...ofSpeakers));
  });
}

/** Length of the fragments whose embeddings are averaged, and their maximum number. More fragments gain nothing. */
const FRAGMENT_SAMPLES = 3 * SAMPLE_RATE;
const MAX_FRAGMENTS = 4;

/** Returns the embedding of the voice in spans of one speaker, without its channel component, of unit length. */
export async function embedSpeech(
  models: DiarizationModels,
  pcm: PcmFile,
  spans: readonly Span[],
): Promise<Float32Array> {
  const fragments: Float32Array[] = [];
  for (const { startSeconds, endSeconds } of spans) {
    const first = Math.floor(startSeconds * SAMPLE_RATE);
    const end = Math.min(pcm.sampleCount, Math.ceil(endSeconds * SAMPLE_RATE));
    for (let at = first; at < end; at += FRAGMENT_SAMPLES) {
      fragments.push(await readPcm(pcm, at, Math.min(FRAGMENT_SAMPLES, end - at)));
    }
  }
  const longest = fragments.sort((a, b) => b.length - a.length).slice(0, MAX_FRAGMENTS);
  if (longest.length === 0) throw new RangeError("there is no speech to embed");
  const embeddings = await embedAll(models, longest.map(longEnough));
  const sum = new Float32Array(embeddings[0]?.length ?? 0);
  for (const [at, embedding] of embeddings.entries()) {
    addScaled(sum, removeChannel(embedding), longest[at]?.length ?? 0);
  }
  return unit(sum);
}
