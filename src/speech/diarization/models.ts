import type { InferenceSession } from "onnxruntime-node";
import { LOCAL_SPEAKERS, WINDOW_FRAMES } from "../../blocks/index.ts";
import { type GgmlAddon, onnxLibraryOf, setOnnxBinding, silenceOnnxTelemetry } from "../../runtimes/index.ts";
import { messageOf } from "../../text/index.ts";

/**
 * Windows or speech spans that a model computes at once. More windows cost more memory than they save; eight spans are
 * no faster than four.
 */
export const BATCH_SIZE = 4;

/**
 * Runs the segmentation model and returns probabilities [window][frame][local speaker].
 * @param waveforms concatenated streams: each is one window, or several windows that overlap as on the grid
 * @param isReverberant whether the newer of the two networks computes them, which finds more speech in rooms
 */
export async function segment(
  models: DiarizationModels,
  waveforms: Float32Array,
  { streams = 1, windows = 1, isReverberant = false } = {},
): Promise<Float32Array> {
  const shape = [streams, waveforms.length / streams];
  const { data, dims } = await models.segmentation.run({ data: waveforms, dims: shape }, [
    { name: "noisy", data: Float32Array.of(isReverberant ? 1 : 0), dims: [1] },
  ]);
  const [all, frames, speakers] = dims;
  if (all !== streams * windows || frames !== WINDOW_FRAMES || speakers !== LOCAL_SPEAKERS) {
    const expected = [streams * windows, WINDOW_FRAMES, LOCAL_SPEAKERS];
    throw new Error(`the segmentation model outputs [${dims}] windows, frames and speakers, not [${expected}]`);
  }
  return data;
}

/** Returns the model's embedding of one speech span, at unit length. The model determines its size. */
export async function embed(models: DiarizationModels, waveform: Float32Array): Promise<Float32Array> {
  return (await models.embedding.run({ data: waveform, dims: [1, waveform.length] })).data;
}

/** Returns the embeddings of several speech spans. Spans of equal length are computed in batches. */
export async function embedAll(
  models: DiarizationModels,
  waveforms: readonly Float32Array[],
): Promise<readonly Float32Array[]> {
  const embeddings: Float32Array[] = [];
  const byLength = Map.groupBy(waveforms.entries(), ([, waveform]) => waveform.length);
  for (const [length, all] of byLength) {
    for (let from = 0; from < all.length; from += BATCH_SIZE) {
      const batch = all.slice(from, from + BATCH_SIZE);
      const joined = new Float32Array(batch.length * length);
      for (const [at, [, waveform]] of batch.entries()) joined.set(waveform, at * length);
      const { data } = await models.embedding.run({ data: joined, dims: [batch.length, length] });
      const size = data.length / batch.length;
      for (const [at, [index]] of batch.entries()) embeddings[index] = data.slice(at * size, (at + 1) * size);
    }
  }
  return embeddings;
}

/** Floats of some shape, a model's input or output. */
interface Floats {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

interface Input extends Floats {
  readonly name: string;
}

/** One of the two models, with one output; several callers may use it at once. */
interface SpeakerModel {
  /** @param others the inputs besides the waveform */
  run(waveform: Floats, others?: readonly Input[]): Promise<Floats>;
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
  run(inputs: readonly Input[], output: string): Promise<Floats>;
  /** Frees the weights once the running calls have ended. */
  dispose(): void;
}

/** The two ONNX models for speaker diarization, loaded once per process. */
export interface DiarizationModels {
  /**
   * Local speaker activity in 5 s windows: `waveform` [streams, samples] and `noisy` [1] → `activity`
   * [streams × windows, 293, 3].
   */
  segmentation: SpeakerModel;
  /** Embedding of a speech span: `waveform` [batch, samples] → `embedding` [batch, size], of unit length. */
  embedding: SpeakerModel;
  /** Releases both models; they cannot be used afterwards. */
  dispose(): Promise<void>;
}

interface SpeakerModelOptions {
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
}

/** Loads both models. @throws {Error} with the file's name if it is missing or not such a model */
export async function openDiarizationModels(options: SpeakerModelOptions): Promise<DiarizationModels> {
  const { segmentationModel, embeddingModel, threads, addon } = options;
  setOnnxBinding(options.onnxBinding);
  silenceOnnxTelemetry();
  // Imported here and not at the top: the server shares this folder's constants but never loads inference code.
  const onnx = await import("onnxruntime-node");
  const session: InferenceSession.SessionOptions = {
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: "all",
    // A pattern plans the memory of each length of speech anew: 25 MiB more, and 3 % more CPU time.
    enableMemPattern: false,
    // A spinning thread uses as much CPU as a working one: with two threads, half of all CPU time.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
  const load = async (path: string, output: string): Promise<SpeakerModel> => {
    try {
      if (addon === undefined) {
        const opened = await onnx.InferenceSession.create(path, session);
        return {
          async run(waveform, others = []) {
            const tensors = [{ name: "waveform", ...waveform }, ...others].map(({ name, data, dims }) => [
              name,
              new onnx.Tensor("float32", data, dims),
            ]);
            const results = await opened.run(Object.fromEntries(tensors));
            const tensor = results[output];
            if (!(tensor?.data instanceof Float32Array)) throw new Error(`the model gave no floats under "${output}"`);
            return { data: tensor.data, dims: tensor.dims };
          },
          release: () => opened.release(),
        };
      }
      const library = onnxLibraryOf(options.onnxBinding);
      const model = new addon.SpeakerModel({ library, model: path, threads });
      return {
        run: (waveform, others = []) => model.run([{ name: "waveform", ...waveform }, ...others], output),
        release: async () => model.dispose(),
      };
    } catch (error) {
      const remedy = 'Check it with "transcribe models verify"; if it is whole, free memory';
      throw new Error(`cannot load the model ${path}: ${messageOf(error).replace(/\.$/, "")}. ${remedy}`, {
        cause: error,
      });
    }
  };
  const segmentation = await load(segmentationModel, "activity");
  const embedding = await load(embeddingModel, "embedding");
  return {
    segmentation,
    embedding,
    async dispose() {
      await segmentation.release();
      await embedding.release();
    },
  };
}
