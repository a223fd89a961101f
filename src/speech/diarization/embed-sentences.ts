import { BLOCK_SECONDS, blockCount, frameSeconds, hasBlock, WINDOW_SAMPLES } from "../../blocks/index.ts";
import { embeddedPart, SAMPLE_RATE, type Span, type WorkArea } from "../../timeline/index.ts";
import { type DiarizationModels, embedAll } from "./models.ts";
import { readPcm } from "./read-pcm.ts";
import { addScaled, unit } from "./similarity.ts";
import { readVoices, type VoiceFragment } from "./voices.ts";

/** Tolerance by which fragments may extend beyond their sentence. Word times are accurate to a fifth of a second. */
const REACH_SECONDS = 0.15;
/**
 * Minimum share of the embedded length that existing fragments within the sentence must cover. Their mean has a cosine
 * similarity of 0.93 to the sentence's own embedding. In dialogues, five of six sentences need none of their own.
 */
const MIN_COVERED_SHARE = 0.8;

/**
 * Returns the voice embedding of each sentence: the mean of the voice fragments within it if they cover enough of it,
 * otherwise its own. A lost block of embeddings counts as a block without fragments. @param sentences in order
 */
export async function embedSentences(
  models: DiarizationModels,
  area: WorkArea,
  sentences: readonly Span[],
): Promise<readonly Float32Array[]> {
  const fragments = new FragmentReader(area);
  const known: (Float32Array | null)[] = [];
  const sounds: Float32Array[] = [];
  for (const sentence of sentences) {
    const voice = voiceWithin(sentence, await fragments.about(sentence));
    known.push(voice);
    if (voice !== null) continue;
    const { firstSample, sampleCount } = embeddedPart(sentence);
    sounds.push(await readPcm(area.pcm, firstSample, sampleCount));
  }
  const embedded = (await embedAll(models, sounds)).values();
  return known.map((voice) => voice ?? embedded.next().value ?? new Float32Array());
}

/** Returns the mean of the fragments within a sentence, at unit length; null if they cover too little of it. */
export function voiceWithin(sentence: Span, fragments: readonly VoiceFragment[]): Float32Array | null {
  const within = fragments.filter(
    ({ start, end }) =>
      end > start &&
      frameSeconds(start) >= sentence.startSeconds - REACH_SECONDS &&
      frameSeconds(end) <= sentence.endSeconds + REACH_SECONDS,
  );
  if (within.length === 0 || secondsTogether(within) < MIN_COVERED_SHARE * embeddedPart(sentence).seconds) return null;
  const sum = new Float32Array(within[0]?.embedding.length ?? 0);
  for (const { start, end, embedding } of within) addScaled(sum, embedding, end - start);
  return unit(sum);
}

/** Returns the duration of the union of fragments, which may overlap. */
function secondsTogether(fragments: readonly VoiceFragment[]): number {
  let seconds = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const { start, end } of fragments.toSorted((a, b) => a.start - b.start)) {
    if (end <= reached) continue;
    seconds += frameSeconds(end) - frameSeconds(Math.max(start, reached));
    reached = end;
  }
  return seconds;
}

/** Reader of a recording's voice fragments, queried from beginning to end. Caches the fragments of about two blocks. */
class FragmentReader {
  private readonly blocks = new Map<number, readonly VoiceFragment[]>();

  constructor(private readonly area: WorkArea) {}

  /** Returns all fragments of the blocks whose windows reach into a span. */
  async about({ startSeconds, endSeconds }: Span): Promise<VoiceFragment[]> {
    const first = Math.max(0, Math.floor((startSeconds - WINDOW_SAMPLES / SAMPLE_RATE) / BLOCK_SECONDS));
    const last = Math.min(blockCount(this.area.pcm.sampleCount) - 1, Math.floor(endSeconds / BLOCK_SECONDS));
    for (const block of this.blocks.keys()) if (block < first) this.blocks.delete(block);
    const near: VoiceFragment[] = [];
    for (let block = first; block <= last; block++) {
      const fragments = this.blocks.get(block) ?? (await this.read(block));
      this.blocks.set(block, fragments);
      for (const fragment of fragments) near.push(fragment);
    }
    return near;
  }

  private async read(block: number): Promise<readonly VoiceFragment[]> {
    if (!(await hasBlock(this.area, "embeddings", block))) return [];
    return (await readVoices(this.area, block)).flatMap(({ fragments }) => fragments);
  }
}
