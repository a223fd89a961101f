import type { InferenceSession, Tensor } from "onnxruntime-node";
import { messageOf } from "../../wording/index.ts";
import { silenceOnnxTelemetry } from "../onnx-telemetry.ts";
import { LOCAL_SPEAKERS, WINDOW_FRAMES } from "./grid.ts";
import { setOnnxBinding } from "./onnx-binding.ts";

/** Stretches that are embedded at once: eight take no less of the processor's time. */
const BATCH_VOICES = 4;

/** The two ONNX models that tell who speaks when, loaded once for a process. */
export interface DiarizationModels {
  /** Local speaker activity in 5 s windows: `waveform` [streams, samples] → `activity` [streams × windows, 293, 3]. */
  segmentation: InferenceSession;
  /** The voice of a stretch of speech: `waveform` [batch, samples] → `embedding` [batch, size], of unit length. */
  embedding: InferenceSession;
  /** Makes a model's input of floats. */
  tensor(data: Float32Array, shape: readonly number[]): Tensor;
  /** Frees both models; they can't be used afterwards. */
  dispose(): Promise<void>;
}

/** Loads both models for the CPU. Throws an Error that names the file where it is missing or no such model. */
export async function openDiarizationModels(options: {
  /** ONNX Runtime's addon; a compiled program loads this one, from source its package finds its own. */
  onnxBinding: string;
  segmentationPath: string;
  embeddingPath: string;
  threads: number;
}): Promise<DiarizationModels> {
  setOnnxBinding(options.onnxBinding);
  silenceOnnxTelemetry();
  // Loaded here and not with the module: the server shares this folder's constants but never loads inference code.
  const onnx = await import("onnxruntime-node");
  const session: InferenceSession.SessionOptions = {
    executionProviders: ["cpu"],
    intraOpNumThreads: options.threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: "all",
    // A thread that waits by turning round takes as much of the processor as one that works: half of all, with two threads.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
  const load = async (path: string) => {
    try {
      return await onnx.InferenceSession.create(path, session);
    } catch (error) {
      const remedy = 'Check it with "transcribe models verify"; if it is whole, free memory';
      throw new Error(`cannot load the model ${path}: ${messageOf(error).replace(/\.$/, "")}. ${remedy}`, {
        cause: error,
      });
    }
  };
  const segmentation = await load(options.segmentationPath);
  const embedding = await load(options.embeddingPath);
  return {
    segmentation,
    embedding,
    tensor: (data, shape) => new onnx.Tensor("float32", data, shape),
    async dispose() {
      await segmentation.release();
      await embedding.release();
    },
  };
}

/**
 * Runs windows through segmentation: probabilities [window][frame][local speaker]. Throws where the model has other windows,
 * frames or speakers than the grid.
 * @param waveforms streams, laid end to end: each a window, or several that overlap as the grid has them
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

/** The embedding of a stretch of speech as the model gives it, of unit length; its size is the model's. */
export async function embed(models: DiarizationModels, waveform: Float32Array): Promise<Float32Array> {
  return (await run(models.embedding, models.tensor(waveform, [1, waveform.length]), "embedding")).data;
}

/** The embedding of each of several stretches of speech; those of one length go through the model together. */
export async function embedAll(
  models: DiarizationModels,
  waveforms: readonly Float32Array[],
): Promise<readonly Float32Array[]> {
  const embeddings: Float32Array[] = [];
  const byLength = Map.groupBy(waveforms.entries(), ([, waveform]) => waveform.length);
  for (const [length, all] of byLength) {
    for (let from = 0; from < all.length; from += BATCH_VOICES) {
      const batch = all.slice(from, from + BATCH_VOICES);
      const joined = new Float32Array(batch.length * length);
      for (const [at, [, waveform]] of batch.entries()) joined.set(waveform, at * length);
      const { data } = await run(models.embedding, models.tensor(joined, [batch.length, length]), "embedding");
      const size = data.length / batch.length;
      for (const [at, [index]] of batch.entries()) embeddings[index] = data.slice(at * size, (at + 1) * size);
    }
  }
  return embeddings;
}

async function run(session: InferenceSession, waveform: Tensor, output: string) {
  const results = await session.run({ waveform });
  const tensor = results[output];
  if (!(tensor?.data instanceof Float32Array)) throw new Error(`the model gave no floats under "${output}"`);
  return { data: tensor.data, dims: tensor.dims };
}
