import { type GgmlRuntime, silenceOnnxTelemetry } from "../../../runtimes/index.ts";
import { loadNatively } from "../native-calls.ts";
import type { EncoderOptions } from "../recognizer.ts";
import type { NativeEncoder, NativeModel, WhisperAddon } from "./addon.ts";
import { type ModelSizes, validateModelFile } from "./model-file/index.ts";
import { alignmentHeads } from "./model-header.ts";
import { createState } from "./state.ts";
import type { WhisperModel } from "./types.ts";

/**
 * Loads a model into ggml's runtime, on the first GPU with `useGpu`.
 * @param slots number of states whose texts are decoded together; 1: each decodes alone
 * @throws {Error} with a hint for the user
 */
export function openModel(runtime: GgmlRuntime, path: string, useGpu: boolean, slots = 1): WhisperModel {
  const sizes = validateModelFile(path);
  // The addon has the classes of all families; these are ours.
  const addon = runtime.addon as WhisperAddon;
  return loadNatively("whisper", path, () => {
    const native = new addon.Model(path, { useGpu, flashAttention: true, slots, ...alignmentHeads(sizes) });
    return createModel(addon, native, sizes);
  });
}

/** Wraps a native model with its weights. */
function createModel(addon: WhisperAddon, native: NativeModel, sizes: ModelSizes): WhisperModel {
  const languages = native.languages();
  const encoders = new Map<string, NativeEncoder>();
  const encoderOf = ({ library, path, threads }: EncoderOptions): NativeEncoder => {
    const known = encoders.get(path);
    if (known !== undefined) return known;
    silenceOnnxTelemetry();
    const { mels, audioWidth: width } = sizes;
    const encoder = new addon.Encoder({ library, model: path, threads, mels, width });
    encoders.set(path, encoder);
    return encoder;
  };
  return {
    languages,
    work: () => native.work(),
    createState: (encoder) => {
      const state = new addon.State(native, encoder === undefined ? undefined : encoderOf(encoder));
      return createState(state, languages);
    },
    dispose: () => {
      native.dispose();
      for (const encoder of encoders.values()) encoder.dispose();
    },
  };
}
