import { join } from "node:path";
import { checkout } from "./checkout.ts";

/** Where the parts that are not TypeScript lie: the addon, ffmpeg and the default models. */
export interface ProgramFiles {
  /** Directory of whisper.node and its ggml libraries. */
  readonly nativeDirectory: string;
  readonly ffmpeg: string;
  readonly whisperModel: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
  /** Eleven seconds of an inaugural address of 1961, in the public domain, for `bench`. */
  readonly benchRecording: string;
}

/**
 * The parts, ready to be used: as scripts/setup lays them out in a checkout.
 * @param _runtimeDirectory where a program that carries its parts in itself would unpack them
 */
export async function programFiles(_runtimeDirectory: string): Promise<ProgramFiles> {
  return {
    nativeDirectory: join(checkout, "build/native"),
    ffmpeg: join(checkout, "build/ffmpeg/ffmpeg"),
    whisperModel: join(checkout, "build/models/ggml-base.bin"),
    segmentationModel: join(checkout, "models/pyannote-segmentation.onnx"),
    embeddingModel: join(checkout, "models/resemblyzer-embedding.onnx"),
    benchRecording: join(checkout, "build/samples/jfk.mp3"),
  };
}
