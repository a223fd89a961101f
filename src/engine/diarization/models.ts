import type { InferenceSession, Tensor } from "onnxruntime-node";
import { LOCAL_SPEAKERS, WINDOW_FRAMES, WINDOW_SAMPLES } from "./grid.ts";
import { setOnnxBinding } from "./onnx-binding.ts";
import { silenceOnnxTelemetry } from "./onnx-telemetry.ts";

/** Samples of a slice of speech that the embedding model takes: the 1.6 s that it was trained on. */
export const SLICE_SAMPLES = 25_600;
/** Numbers of an embedding. */
export const EMBEDDING_SIZE = 256;

/** The two ONNX models that tell who speaks when, loaded once for a process. */
export interface DiarizationModels {
  /** Local speaker activity in 5 s windows: `waveform` [batch, 80000] → `activity` [batch, 293, 3]. */
  segmentation: InferenceSession;
  /** The voice of a slice of speech: `waveform` [batch, 25600] → `embedding` [batch, 256], of unit length. */
  embedding: InferenceSession;
  /** Makes a model's input of floats. */
  tensor(data: Float32Array, shape: readonly number[]): Tensor;
  /** Frees both models; they can't be used afterwards. */
  dispose(): Promise<void>;
}

/** Loads both models for the CPU. Throws what ONNX Runtime says where a file is missing or no such model. */
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
  };
  const segmentation = await onnx.InferenceSession.create(options.segmentationPath, session);
  const embedding = await onnx.InferenceSession.create(options.embeddingPath, session);
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

/** Runs a batch of windows, laid end to end, through segmentation: probabilities [window][frame][local speaker]. */
export async function segment(models: DiarizationModels, waveforms: Float32Array): Promise<Float32Array> {
  const batch = waveforms.length / WINDOW_SAMPLES;
  const expected = batch * WINDOW_FRAMES * LOCAL_SPEAKERS;
  return run(models.segmentation, models.tensor(waveforms, [batch, WINDOW_SAMPLES]), "activity", expected);
}

/** Runs a batch of slices, laid end to end, through the embedding model: unit vectors end to end. */
export async function embed(models: DiarizationModels, waveforms: Float32Array): Promise<Float32Array> {
  const batch = waveforms.length / SLICE_SAMPLES;
  const expected = batch * EMBEDDING_SIZE;
  return run(models.embedding, models.tensor(waveforms, [batch, SLICE_SAMPLES]), "embedding", expected);
}

async function run(session: InferenceSession, waveform: Tensor, output: string, expected: number) {
  const results = await session.run({ waveform });
  const tensor = results[output];
  if (!(tensor?.data instanceof Float32Array) || tensor.data.length !== expected) {
    throw new Error(`the model gave no ${expected} floats under "${output}"`);
  }
  return tensor.data;
}
