import type { Tensor } from "onnxruntime-node";
import { LOCAL_SPEAKERS, WINDOW_FRAMES } from "../../timeline/index.ts";
import type { DiarizationModels, SpeakerModel } from "./open-models.ts";

/**
 * Runs the segmentation model and returns probabilities [window][frame][local speaker].
 * @param waveforms concatenated streams: each is one window, or several windows that overlap as on the grid
 * @throws {Error} if the model's windows, frames or speakers differ from the grid's
 */
export async function segment(
  models: DiarizationModels,
  waveforms: Float32Array,
  { streams = 1, windows = 1 } = {},
): Promise<Float32Array> {
  const waveform = models.tensor(waveforms, [streams, waveforms.length / streams]);
  const { data, dims } = await run(models.segmentation, waveform, "activity");
  const [all, frames, speakers] = dims;
  if (all !== streams * windows || frames !== WINDOW_FRAMES || speakers !== LOCAL_SPEAKERS) {
    const expected = `${WINDOW_FRAMES} frames in ${streams * windows}`;
    throw new Error(
      `the model tells ${speakers} speakers apart in ${frames} frames of ${all} windows, not 3 in ${expected}`,
    );
  }
  return data;
}

/** Returns the model's embedding of one speech span, at unit length. The model determines its size. */
export async function embed(models: DiarizationModels, waveform: Float32Array): Promise<Float32Array> {
  return (await run(models.embedding, models.tensor(waveform, [1, waveform.length]), "embedding")).data;
}

/** Returns the embeddings of several speech spans. Spans of equal length are computed in batches. */
export async function embedAll(
  models: DiarizationModels,
  waveforms: readonly Float32Array[],
): Promise<readonly Float32Array[]> {
  const embeddings: Float32Array[] = [];
  const atOnce = models.atOnce.embedding;
  const byLength = Map.groupBy(waveforms.entries(), ([, waveform]) => waveform.length);
  for (const [length, all] of byLength) {
    for (let from = 0; from < all.length; from += atOnce) {
      const batch = all.slice(from, from + atOnce);
      const joined = new Float32Array(batch.length * length);
      for (const [at, [, waveform]] of batch.entries()) joined.set(waveform, at * length);
      const { data } = await run(models.embedding, models.tensor(joined, [batch.length, length]), "embedding");
      const size = data.length / batch.length;
      for (const [at, [index]] of batch.entries()) embeddings[index] = data.slice(at * size, (at + 1) * size);
    }
  }
  return embeddings;
}

async function run(model: SpeakerModel, waveform: Tensor, output: string) {
  const results = await model.run({ waveform });
  const tensor = results[output];
  if (!(tensor?.data instanceof Float32Array)) throw new Error(`the model gave no floats under "${output}"`);
  return { data: tensor.data, dims: tensor.dims };
}
