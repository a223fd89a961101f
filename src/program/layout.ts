import { join } from "node:path";
import { builtInModels } from "./built-in-models.ts";

/** Paths of the parts that are not TypeScript: the addon, ONNX Runtime, ffmpeg and the default models. */
export interface ProgramFiles {
  /** Directory of the addon and its ggml libraries. */
  readonly nativeDirectory: string;
  /** ONNX Runtime's addon; its library is in the same directory. */
  readonly onnxBinding: string;
  readonly ffmpeg: string;
  /** The program that starts ffmpeg confined; it lies next to ffmpeg (src/media/confinement.ts). */
  readonly confine: string;
  readonly speechModel: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
  /** Eleven seconds of an inaugural address of 1961, in the public domain, for `bench`. */
  readonly benchRecording: string;
}

/** Paths of the parts below the directory into which a compiled program unpacks them. */
export const unpackedLayout: ProgramFiles = {
  nativeDirectory: "native",
  onnxBinding: "onnxruntime/onnxruntime_binding.node",
  ffmpeg: "ffmpeg/ffmpeg",
  confine: "ffmpeg/confine",
  speechModel: `models/${builtInModels.speech.file}`,
  segmentationModel: `models/${builtInModels.segmentation.file}`,
  embeddingModel: `models/${builtInModels.embedding.file}`,
  benchRecording: "samples/jfk.mp3",
};

/** Returns a layout with all its paths below a directory. */
export function below(root: string, layout: ProgramFiles): ProgramFiles {
  return {
    nativeDirectory: join(root, layout.nativeDirectory),
    onnxBinding: join(root, layout.onnxBinding),
    ffmpeg: join(root, layout.ffmpeg),
    confine: join(root, layout.confine),
    speechModel: join(root, layout.speechModel),
    segmentationModel: join(root, layout.segmentationModel),
    embeddingModel: join(root, layout.embeddingModel),
    benchRecording: join(root, layout.benchRecording),
  };
}
