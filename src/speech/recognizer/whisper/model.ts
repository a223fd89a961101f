import { silenceOnnxTelemetry } from "../../onnx-telemetry.ts";
import type { NativeAddon, NativeEncoder, NativeModel } from "./addon.ts";
import type { ModelHeader } from "./model-header.ts";
import { createState } from "./state.ts";
import type { EncoderOptions, WhisperModel } from "./types.ts";

/** Wraps a native model with its weights. */
export function createModel(parts: {
  addon: NativeAddon;
  native: NativeModel;
  header: ModelHeader;
  wordTimes: boolean;
}): WhisperModel {
  const { addon, native, header, wordTimes } = parts;
  const languages = native.languages();
  const encoders = new Map<string, NativeEncoder>();
  const encoderOf = ({ library, path, threads }: EncoderOptions): NativeEncoder => {
    const { mels, audioWidth: width } = header;
    const known = encoders.get(path);
    if (known !== undefined) return known;
    silenceOnnxTelemetry();
    const encoder = new addon.Encoder({ library, model: path, threads, mels, width });
    encoders.set(path, encoder);
    return encoder;
  };
  return {
    type: header.type,
    multilingual: native.multilingual(),
    languages,
    createState: (encoder) => {
      const state = new addon.State(native, encoder === undefined ? undefined : encoderOf(encoder));
      return createState({ native: state, languages, wordTimes });
    },
    dispose: () => {
      native.dispose();
      for (const encoder of encoders.values()) encoder.dispose();
    },
  };
}
