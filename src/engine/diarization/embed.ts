import { BlockActivity } from "./activity.ts";
import { type LocalVoice, localVoices } from "./clean-speech.ts";
import { type DiarizationModels, EMBEDDING_SIZE, embed, SLICE_SAMPLES } from "./models.ts";
import { type PcmFile, PcmReader } from "./pcm.ts";
import { writeVoices } from "./voices.ts";

/** Slices that go through the model at once: from 16 on, more gain nothing on two threads. */
const BATCH_SLICES = 32;

/**
 * Embeds the clean speech of every local speaker of one block and keeps it in `embeddingDirectory`, atomically. Needs the
 * block's activity. Takes about 0.4 % of the block's duration on two threads.
 */
export async function embedBlock(
  models: DiarizationModels,
  pcm: PcmFile,
  block: number,
  activityDirectory: string,
  embeddingDirectory: string,
): Promise<void> {
  const activity = await BlockActivity.read(activityDirectory, block);
  const voices = Array.from({ length: activity.windows }, (_, window) => localVoices(activity, window)).flat();
  await using reader = await PcmReader.open(pcm);
  const embedder = new SliceEmbedder(models);
  const byStart = new Map<number, number>();
  const slicesOf: number[][] = [];
  for (const voice of voices) {
    const slices: number[] = [];
    for (const start of voice.slices) {
      const known = byStart.get(start) ?? (await embedder.add(await reader.read(start, SLICE_SAMPLES)));
      byStart.set(start, known);
      slices.push(known);
    }
    if (slices.length === 0) slices.push(await embedder.add(await joined(reader, voice)));
    slicesOf.push(slices);
  }
  const embeddings = await embedder.end();
  await writeVoices(
    embeddingDirectory,
    block,
    activity.firstWindow,
    voices.map(({ window, local, cleanFrames, slices }, index) => ({
      window,
      local,
      cleanFrames,
      slices: slices.length,
      embedding: mean((slicesOf[index] ?? []).map((slice) => embeddings[slice] ?? new Float32Array(EMBEDDING_SIZE))),
    })),
  );
}

/** Collects slices into batches and keeps their embeddings, which are numbered from 0. */
class SliceEmbedder {
  private readonly embeddings: Float32Array[] = [];
  private readonly batch = new Float32Array(BATCH_SLICES * SLICE_SAMPLES);
  private waiting = 0;

  constructor(private readonly models: DiarizationModels) {}

  /** Takes a slice and gives the number that its embedding will have. */
  async add(slice: Float32Array): Promise<number> {
    if (this.waiting === BATCH_SLICES) await this.flush();
    this.batch.set(slice, this.waiting * SLICE_SAMPLES);
    this.waiting++;
    return this.embeddings.length + this.waiting - 1;
  }

  async end(): Promise<readonly Float32Array[]> {
    await this.flush();
    return this.embeddings;
  }

  private async flush(): Promise<void> {
    if (this.waiting === 0) return;
    const vectors = await embed(this.models, this.batch.slice(0, this.waiting * SLICE_SAMPLES));
    for (let slice = 0; slice < this.waiting; slice++) {
      this.embeddings.push(vectors.slice(slice * EMBEDDING_SIZE, (slice + 1) * EMBEDDING_SIZE));
    }
    this.waiting = 0;
  }
}

/** One slice out of a voice's pieces: the middle of them where they are longer, repeated where they are shorter. */
async function joined(reader: PcmReader, voice: LocalVoice): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  for (const { start, end } of voice.pieces) parts.push(await reader.read(start, end - start));
  const length = parts.reduce((total, part) => total + part.length, 0);
  const speech = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    speech.set(part, at);
    at += part.length;
  }
  const skip = Math.max(0, Math.floor((length - SLICE_SAMPLES) / 2));
  return Float32Array.from({ length: SLICE_SAMPLES }, (_, sample) => speech[(skip + sample) % length] ?? 0);
}

function mean(vectors: readonly Float32Array[]): Float32Array {
  return Float32Array.from(
    { length: EMBEDDING_SIZE },
    (_, i) => vectors.reduce((total, vector) => total + (vector[i] ?? 0), 0) / vectors.length,
  );
}
