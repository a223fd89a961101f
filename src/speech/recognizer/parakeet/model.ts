import type { GgmlRuntime } from "../../../runtimes/index.ts";
import { type EngineWord, SAMPLE_RATE } from "../../../timeline/index.ts";
import { checkThreads, loadNatively } from "../native-calls.ts";
import type { NativeState, ParakeetAddon } from "./addon.ts";
import { type CheckedModel, validateModelFile } from "./model-file/index.ts";
import { toWords } from "./words.ts";

/** Minimum number of samples of a window: 0.1 s. The spectrum of a few samples is not a number. */
const LEAST_SAMPLES = SAMPLE_RATE / 10;

/** Loaded weights, shared by any number of states. */
export interface ParakeetModel {
  /** Creates the working memory of one recognition at a time. */
  createState(): ParakeetState;
  /** Frees the weights, once the model's states are disposed too. */
  dispose(): void;
}

/** The working memory of one recognition at a time. A second call during a running one throws. */
export interface ParakeetState {
  /** Returns the encoder's output for a window of 16 kHz mono samples: [frame of 80 ms][width]. */
  encode(samples: Float32Array, threads: number): Promise<Float32Array>;
  /**
   * Recognizes a window of 16 kHz mono samples, -1 to 1; times are from its start. Null if the call was aborted.
   * @throws {Error} when the model's numbers are not finite, or when the window is too long
   */
  recognize(samples: Float32Array, threads: number): Promise<EngineWord[] | null>;
  /** Ends the running call. */
  abort(): void;
  /** Aborts the running call and frees the memory. */
  dispose(): void;
}

/** Loads a model into ggml's runtime, on the first GPU with `useGpu`. @throws {Error} with a hint for the user */
export function openModel(runtime: GgmlRuntime, path: string, useGpu: boolean): ParakeetModel {
  const checked = validateModelFile(path);
  // The addon has the classes of all families; these are ours.
  const addon = runtime.addon as ParakeetAddon;
  const native = loadNatively("Parakeet", path, () => new addon.ParakeetModel(path, { useGpu }));
  return {
    createState: () => createState(new addon.ParakeetState(native), checked),
    dispose: () => native.dispose(),
  };
}

function createState(native: NativeState, { pieces }: CheckedModel): ParakeetState {
  return {
    encode: (samples, threads) => native.encode(samples, checkThreads(threads)),
    recognize: async (samples, threads) => {
      checkThreads(threads);
      if (samples.length < LEAST_SAMPLES) return [];
      const { aborted, tokens } = await native.transcribe(samples, threads);
      if (aborted) return null;
      if (!tokens.every(({ probability }) => Number.isFinite(probability))) {
        throw new Error("it computes numbers that are not finite");
      }
      return toWords(tokens, pieces, samples.length / SAMPLE_RATE);
    },
    abort: () => native.abort(),
    dispose: () => native.dispose(),
  };
}
