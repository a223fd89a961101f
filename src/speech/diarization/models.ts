import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { SpeakerPart } from "../../engine/index.ts";
import { messageOf } from "../../text/index.ts";
import { LOCAL_SPEAKERS, WINDOW_FRAMES, WINDOW_SAMPLES } from "../../timeline/index.ts";
import type { GgmlAddon } from "../ggml.ts";
import { GpuError } from "../gpu-error.ts";
import { onnxLibraryOf, setOnnxBinding, silenceOnnxTelemetry } from "../onnx-runtime.ts";
import { inFloats } from "./float-form.ts";

/**
 * Runs the segmentation model and returns probabilities [window][frame][local speaker].
 * @param waveforms concatenated streams: each is one window, or several windows that overlap as on the grid
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
    const expected = [streams * windows, WINDOW_FRAMES, LOCAL_SPEAKERS];
    throw new Error(`the segmentation model outputs [${dims}] windows, frames and speakers, not [${expected}]`);
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
  const batchSize = models.batchSizes.embedding;
  const byLength = Map.groupBy(waveforms.entries(), ([, waveform]) => waveform.length);
  for (const [length, all] of byLength) {
    for (let from = 0; from < all.length; from += batchSize) {
      const batch = all.slice(from, from + batchSize);
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

/** One of the two models; several callers may use it at once. */
export interface SpeakerModel {
  run(feeds: { readonly waveform: Tensor }): Promise<Readonly<Record<string, Tensor>>>;
  release(): Promise<void>;
}

/** The part of the native addon that runs these models. */
export interface SpeakerModelAddon extends GgmlAddon {
  SpeakerModel: new (options: {
    /** Path of libonnxruntime.so.1. */
    library: string;
    /** Path of the ONNX file. */
    model: string;
    threads: number;
  }) => NativeSpeakerModel;
}

interface NativeSpeakerModel {
  /** Runs the model on a thread of its own. @param output name of the output that is returned */
  run(
    inputs: readonly { readonly name: string; readonly data: Tensor["data"]; readonly dims: readonly number[] }[],
    output: string,
  ): Promise<{ data: Float32Array; dims: number[] }>;
  /** Frees the weights once the running calls have ended. */
  dispose(): void;
}

/** The two ONNX models for speaker diarization, loaded once per process. */
export interface DiarizationModels {
  /** Local speaker activity in 5 s windows: `waveform` [streams, samples] → `activity` [streams × windows, 293, 3]. */
  segmentation: SpeakerModel;
  /** Embedding of a speech span: `waveform` [batch, samples] → `embedding` [batch, size], of unit length. */
  embedding: SpeakerModel;
  /** Batch sizes: windows for segmentation, speech spans for embedding. */
  batchSizes: Readonly<Record<SpeakerPart, number>>;
  /** Creates a model input from floats. */
  tensor(data: Float32Array, shape: readonly number[]): Tensor;
  /** Releases both models; they cannot be used afterwards. */
  dispose(): Promise<void>;
}

export interface SpeakerModelOptions {
  /** ONNX Runtime's addon. A compiled program loads this file; when run from source, the package finds its own. */
  readonly onnxBinding: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
  readonly threads: number;
  /**
   * The native addon, with which several operations compute at once and the event loop stays free. Without it, the
   * package's addon computes on the JavaScript thread, which suffices for one operation at a time.
   */
  readonly addon?: SpeakerModelAddon;
  /** Models that run on a GPU through ONNX Runtime's WebGPU provider; none by default. */
  readonly onGpu?: readonly SpeakerPart[];
  /** Provider that actually runs the models of `onGpu`. The value "cpu" serves as the reference for a GPU's results. */
  readonly gpuProvider?: "webgpu" | "cpu";
}

/** Batch sizes on the CPU. More windows cost more memory than they save; eight spans are no faster than four. */
const CPU_BATCH_SIZES = { segmentation: 4, embedding: 4 };
/** Batch sizes on a GPU, where every run makes the same thousands of calls. 40 windows take 0.5 GB of GPU memory. */
const GPU_BATCH_SIZES = { segmentation: 40, embedding: 16 };

/** Names of the models' outputs. */
const OUTPUTS = { segmentation: "activity", embedding: "embedding" } as const;

/** Minimum input length of each model, in samples: one window, or the minimum input of an embedding. */
const MIN_SAMPLES = { segmentation: WINDOW_SAMPLES, embedding: 12_800 };

/** ONNX Runtime's log level for errors only. At the default level it logs which operators it leaves to the CPU. */
const LOG_ERRORS_ONLY = 3;

/**
 * Loads both models. @throws {Error} with the file's name if it is missing or not such a model; {GpuError} if there is
 * no GPU, or it cannot run the models assigned to it
 */
export async function openDiarizationModels(options: SpeakerModelOptions): Promise<DiarizationModels> {
  const { segmentationModel, embeddingModel, threads, addon, onGpu = [], gpuProvider = "webgpu" } = options;
  setOnnxBinding(options.onnxBinding);
  silenceOnnxTelemetry();
  // Imported here and not at the top: the server shares this folder's constants but never loads inference code.
  const onnx = await import("onnxruntime-node");
  const session: InferenceSession.SessionOptions = {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: "all",
    // A spinning thread uses as much CPU as a working one: with two threads, half of all CPU time.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
  // A pattern plans the memory of each length of speech anew: 25 MiB more, and 3 % more CPU time.
  const load = async (part: SpeakerPart, path: string): Promise<SpeakerModel> => {
    try {
      if (addon === undefined) return await onnx.InferenceSession.create(path, { ...session, enableMemPattern: false });
      const library = onnxLibraryOf(options.onnxBinding);
      const output = OUTPUTS[part];
      const model = new addon.SpeakerModel({ library, model: path, threads });
      return {
        async run(feeds) {
          const inputs = Object.entries(feeds).map(([name, { data, dims }]) => ({ name, data, dims }));
          const { data, dims } = await model.run(inputs, output);
          return { [output]: new onnx.Tensor("float32", data, dims) };
        },
        release: async () => model.dispose(),
      };
    } catch (error) {
      const remedy = 'Check it with "transcribe models verify"; if it is whole, free memory';
      throw new Error(`cannot load the model ${path}: ${messageOf(error).replace(/\.$/, "")}. ${remedy}`, {
        cause: error,
      });
    }
  };
  const gpu = new GpuModels(async (path) =>
    onnx.InferenceSession.create(inFloats(await Bun.file(path).bytes()), {
      ...session,
      executionProviders: [...new Set([gpuProvider, "cpu"])],
      logSeverityLevel: LOG_ERRORS_ONLY,
    }),
  );
  const open = async (part: SpeakerPart, path: string): Promise<SpeakerModel> => {
    if (!onGpu.includes(part)) return await load(part, path);
    const model = await gpu.open(part, path);
    // The first run makes the driver compile its kernels, so that the first caller does not wait for that.
    const sound = Float32Array.from({ length: MIN_SAMPLES[part] }, (_, at) => 0.1 * Math.sin(at / 10));
    await model.run({ waveform: new onnx.Tensor("float32", sound, [1, sound.length]) });
    return model;
  };
  const segmentation = await open("segmentation", segmentationModel);
  const embedding = await open("embedding", embeddingModel);
  const batchSize = (part: SpeakerPart) => (onGpu.includes(part) ? GPU_BATCH_SIZES : CPU_BATCH_SIZES)[part];
  return {
    segmentation,
    embedding,
    batchSizes: { segmentation: batchSize("segmentation"), embedding: batchSize("embedding") },
    tensor: (data, shape) => new onnx.Tensor("float32", data, shape),
    async dispose() {
      await segmentation.release();
      await embedding.release();
    },
  };
}

/**
 * Loader of models on a GPU. Only one model runs at a time: they share the GPU's queue, which ONNX Runtime does not
 * guard.
 */
export class GpuModels {
  readonly #load: (path: string) => Promise<InferenceSession>;
  #last: Promise<unknown> = Promise.resolve();

  /** @param load opens a model on the GPU */
  constructor(load: (path: string) => Promise<InferenceSession>) {
    this.#load = load;
  }

  /** @throws {GpuError} if the GPU cannot be used for the model */
  async open(part: SpeakerPart, path: string): Promise<SpeakerModel> {
    const session = await this.#inTurn(() => this.#load(path));
    const run: SpeakerModel["run"] = async (feeds) => {
      const results = await session.run(feeds);
      for (const { data } of Object.values(results)) checkNumbers(part, data);
      return results;
    };
    return { run: (feeds) => this.#inTurn(() => run(feeds)), release: () => this.#inTurn(() => session.release()) };
  }

  async #inTurn<T>(job: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(job);
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } catch (error) {
      throw new GpuError(error, "speakers");
    }
  }
}

/**
 * Throws if a model cannot have produced these numbers. A lost GPU may leave its output buffers filled with zeros.
 * Segmentation outputs probabilities, and embedding outputs vectors of unit length.
 */
function checkNumbers(part: SpeakerPart, data: Tensor["data"]): void {
  if (!(data instanceof Float32Array)) return;
  let sum = 0;
  for (const value of data) sum += part === "segmentation" ? value : value * value;
  if (sum > 0 && sum <= data.length) return;
  throw new Error(`the GPU returned impossible numbers for the ${part} model`);
}
