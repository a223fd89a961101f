import {
  BLOCK_SECONDS,
  blockCount,
  frameSeconds,
  type PcmFile,
  SAMPLE_RATE,
  type Span,
  secondsOf,
  WINDOW_SAMPLES,
} from "../../timeline/index.ts";
import { isWholeBlock } from "./block-file.ts";
import { embedAll } from "./models.ts";
import type { DiarizationModels } from "./open-models.ts";
import { PcmReader } from "./pcm.ts";
import { addScaled, unit } from "./vectors.ts";
import { readVoices, type VoicePiece } from "./voices.ts";

/** How much of a longer sentence is heard: its middle. */
const MOST_HEARD_SECONDS = 2.5;
/** Pieces of a voice may reach out of their sentence by this: words are known to a fifth of a second. */
const REACH_SECONDS = 0.15;
/**
 * So much of what would be heard must be known from pieces within the sentence. Their mean is 0.93 alike to what is heard, and
 * five of six sentences of dialogues need not be heard by themselves.
 */
const KNOWN_PART = 0.8;

/** How much is heard of a sentence, in seconds. */
export function heardLength(sentence: Span): number {
  return Math.min(secondsOf(sentence), MOST_HEARD_SECONDS);
}

/**
 * The voice of each sentence: by the pieces of the windows' voices that lie within it, where they are enough, or else heard by
 * itself. Needs the embeddings of the blocks that sentences lie in; where they are lost, all are heard.
 * @param sentences in order
 */
export async function embedSentences(
  models: DiarizationModels,
  pcm: PcmFile,
  sentences: readonly Span[],
  embeddingDirectory: string,
): Promise<readonly Float32Array[]> {
  await using reader = await PcmReader.open(pcm);
  const pieces = new PiecesNear(pcm, embeddingDirectory);
  const known: (Float32Array | null)[] = [];
  const sounds: Float32Array[] = [];
  for (const sentence of sentences) {
    const voice = voiceWithin(sentence, await pieces.about(sentence));
    known.push(voice);
    if (voice === null) sounds.push(await soundOf(reader, sentence));
  }
  const heard = (await embedAll(models, sounds)).values();
  return known.map((voice) => voice ?? heard.next().value ?? new Float32Array());
}

/** The mean of the pieces that lie within a sentence, of unit length; null where they are too little of it. */
export function voiceWithin(sentence: Span, pieces: readonly VoicePiece[]): Float32Array | null {
  const within = pieces.filter(
    ({ start, end }) =>
      end > start &&
      frameSeconds(start) >= sentence.startSeconds - REACH_SECONDS &&
      frameSeconds(end) <= sentence.endSeconds + REACH_SECONDS,
  );
  if (within.length === 0 || secondsTogether(within) < KNOWN_PART * heardLength(sentence)) return null;
  const sum = new Float32Array(within[0]?.embedding.length ?? 0);
  for (const { start, end, embedding } of within) addScaled(sum, embedding, end - start);
  return unit(sum);
}

/** How much of the recording pieces have together; they overlap. */
function secondsTogether(pieces: readonly VoicePiece[]): number {
  let seconds = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const { start, end } of pieces.toSorted((a, b) => a.start - b.start)) {
    if (end <= reached) continue;
    seconds += frameSeconds(end) - frameSeconds(Math.max(start, reached));
    reached = end;
  }
  return seconds;
}

/** The middle of a sentence. */
async function soundOf(reader: PcmReader, sentence: Span): Promise<Float32Array> {
  const length = Math.round(heardLength(sentence) * SAMPLE_RATE);
  const middle = Math.round(((sentence.startSeconds + sentence.endSeconds) / 2) * SAMPLE_RATE);
  return await reader.read(Math.max(0, middle - Math.floor(length / 2)), length);
}

/** The pieces of a recording's voices, asked for from its beginning to its end; holds those of two blocks or so. */
class PiecesNear {
  private readonly blocks = new Map<number, readonly VoicePiece[]>();

  constructor(
    private readonly pcm: PcmFile,
    private readonly embeddingDirectory: string,
  ) {}

  /** All pieces of the blocks whose windows reach into a span. */
  async about({ startSeconds, endSeconds }: Span): Promise<VoicePiece[]> {
    const first = Math.max(0, Math.floor((startSeconds - WINDOW_SAMPLES / SAMPLE_RATE) / BLOCK_SECONDS));
    const last = Math.min(blockCount(this.pcm.sampleCount) - 1, Math.floor(endSeconds / BLOCK_SECONDS));
    for (const block of this.blocks.keys()) if (block < first) this.blocks.delete(block);
    const near: VoicePiece[] = [];
    for (let block = first; block <= last; block++) {
      const pieces = this.blocks.get(block) ?? (await this.read(block));
      this.blocks.set(block, pieces);
      for (const piece of pieces) near.push(piece);
    }
    return near;
  }

  private async read(block: number): Promise<readonly VoicePiece[]> {
    if (!(await isWholeBlock(this.embeddingDirectory, block))) return [];
    return (await readVoices(this.embeddingDirectory, block)).flatMap(({ pieces }) => pieces);
  }
}
