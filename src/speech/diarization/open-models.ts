import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { SpeakerPart } from "../../engine/index.ts";
import { messageOf } from "../../text/index.ts";
import { WINDOW_SAMPLES } from "../../timeline/index.ts";
import { silenceOnnxTelemetry } from "../onnx-telemetry.ts";
import { inFloats } from "./float-form/index.ts";
import { GpuModels } from "./gpu-models.ts";
import { setOnnxBinding } from "./onnx-binding.ts";

/** One of the models, which several may ask at once. */
export interface SpeakerModel {
  run(feeds: { readonly waveform: Tensor }): Promise<Readonly<Record<string, Tensor>>>;
  release(): Promise<void>;
}

/** The two ONNX models that tell who speaks when, loaded once for a process. */
export interface DiarizationModels {
  /** Local speaker activity in 5 s windows: `waveform` [streams, samples] → `activity` [streams × windows, 293, 3]. */
  segmentation: SpeakerModel;
  /** The voice of a stretch of speech: `waveform` [batch, samples] → `embedding` [batch, size], of unit length. */
  embedding: SpeakerModel;
  /** Windows that go through the one at once, and stretches through the other. */
  atOnce: Readonly<Record<SpeakerPart, number>>;
  /** Makes a model's input of floats. */
  tensor(data: Float32Array, shape: readonly number[]): Tensor;
  /** Frees both models; they can't be used afterwards. */
  dispose(): Promise<void>;
}

export interface SpeakerModelOptions {
  /** ONNX Runtime's addon; a compiled program loads this one, from source its package finds its own. */
  readonly onnxBinding: string;
  readonly segmentationPath: string;
  readonly embeddingPath: string;
  readonly threads: number;
  /** Those that a GPU computes, by ONNX Runtime's WebGPU provider; by default none. */
  readonly onGpu?: readonly SpeakerPart[];
  /** What computes those in truth; the CPU, to compare with what a GPU gives. */
  readonly gpuProvider?: "webgpu" | "cpu";
}

/** On the CPU: with more windows what they share is less than what memory costs, and eight stretches take no less than four. */
const atOnceOnCpu = { segmentation: 4, embedding: 4 };
/**
 * On a GPU: each run costs the same thousands of calls, and half a block's windows take 0.5 GB of its memory. Stretches that
 * are of one length are seldom more.
 */
const atOnceOnGpu = { segmentation: 40, embedding: 16 };

/** Samples that a model takes at least: a window, and what is heard of the shortest stretch. */
const shortest = { segmentation: WINDOW_SAMPLES, embedding: 12_800 };

/** ONNX Runtime's level for errors alone: at the usual one it tells which operators it leaves to the CPU. */
const errorsOnly = 3;

/**
 * Loads both models. Throws an Error that names the file where it is missing or no such model.
 * @throws {GpuError} where the GPU is not there, or can't be used for what is to be computed on it
 */
export async function openDiarizationModels(options: SpeakerModelOptions): Promise<DiarizationModels> {
  const { segmentationPath, embeddingPath, threads, onGpu = [], gpuProvider = "webgpu" } = options;
  setOnnxBinding(options.onnxBinding);
  silenceOnnxTelemetry();
  // Loaded here and not with the module: the server shares this folder's constants but never loads inference code.
  const onnx = await import("onnxruntime-node");
  const session: InferenceSession.SessionOptions = {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
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
  const gpu = new GpuModels(async (path) =>
    onnx.InferenceSession.create(inFloats(await Bun.file(path).bytes()), {
      ...{ ...session, executionProviders: [...new Set([gpuProvider, "cpu"])], logSeverityLevel: errorsOnly },
    }),
  );
  const open = async (part: SpeakerPart, path: string): Promise<SpeakerModel> => {
    if (!onGpu.includes(part)) return await load(path);
    const model = await gpu.open(part, path);
    // The driver compiles its kernels for this: whoever asks next need not wait for it.
    const sound = Float32Array.from({ length: shortest[part] }, (_, at) => 0.1 * Math.sin(at / 10));
    await model.run({ waveform: new onnx.Tensor("float32", sound, [1, sound.length]) });
    return model;
  };
  const segmentation = await open("segmentation", segmentationPath);
  const embedding = await open("embedding", embeddingPath);
  const atOnce = (part: SpeakerPart) => (onGpu.includes(part) ? atOnceOnGpu : atOnceOnCpu)[part];
  return {
    segmentation,
    embedding,
    atOnce: { segmentation: atOnce("segmentation"), embedding: atOnce("embedding") },
    tensor: (data, shape) => new onnx.Tensor("float32", data, shape),
    async dispose() {
      await segmentation.release();
      await embedding.release();
    },
  };
}
