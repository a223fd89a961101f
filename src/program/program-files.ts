import { join } from "node:path";
import { checkout } from "./checkout.ts";
import { embedded } from "./embedded.ts";
import { requireExecutable } from "./runtime-directory.ts";
import { findUnpacked, unpackAgain, unpackParts, verifyParts } from "./unpack.ts";

/** Where the parts that are not TypeScript lie: the addon, ONNX Runtime, ffmpeg and the default models. */
export interface ProgramFiles {
  /** Directory of whisper.node and its ggml libraries. */
  readonly nativeDirectory: string;
  /** ONNX Runtime's addon; its library lies beside it. */
  readonly onnxBinding: string;
  readonly ffmpeg: string;
  readonly whisperModel: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
  /** Eleven seconds of an inaugural address of 1961, in the public domain, for `bench`. */
  readonly benchRecording: string;
}

/** Where they lie below the directory that a compiled program unpacks them into. */
export const unpackedLayout: ProgramFiles = {
  nativeDirectory: "native",
  onnxBinding: "onnxruntime/onnxruntime_binding.node",
  ffmpeg: "ffmpeg/ffmpeg",
  whisperModel: "models/ggml-base.bin",
  segmentationModel: "models/pyannote-segmentation.onnx",
  embeddingModel: "models/resemblyzer-embedding.onnx",
  benchRecording: "samples/jfk.mp3",
};

const checkoutLayout: ProgramFiles = {
  nativeDirectory: "build/native",
  onnxBinding: `node_modules/onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}/onnxruntime_binding.node`,
  ffmpeg: "build/ffmpeg/ffmpeg",
  whisperModel: "build/models/ggml-base.bin",
  segmentationModel: "models/pyannote-segmentation.onnx",
  embeddingModel: "models/resemblyzer-embedding.onnx",
  benchRecording: "build/samples/jfk.mp3",
};

/**
 * The parts, ready to be used: from source as scripts/setup lays them out in a checkout; by a compiled program unpacked
 * from itself, which takes about a second the first time.
 * @param runtimeDirectory where a compiled program unpacks them; it is held for as long as this process lives
 * @throws {UnpackError}
 */
export async function programFiles(runtimeDirectory: string): Promise<ProgramFiles> {
  if (embedded === null) return below(checkout, checkoutLayout);
  const files = below(await unpackParts(runtimeDirectory, embedded.parts), unpackedLayout);
  requireExecutable(files.ffmpeg, runtimeDirectory);
  return files;
}

/** The parts where they lie; null where a compiled program would have to unpack them first. Changes nothing. */
export function presentProgramFiles(runtimeDirectory: string): ProgramFiles | null {
  if (embedded === null) return below(checkout, checkoutLayout);
  const directory = findUnpacked(runtimeDirectory, embedded.parts);
  return directory === null ? null : below(directory, unpackedLayout);
}

/** Unpacks a compiled program's parts again, over those that lie there. @throws {UnpackError} */
export async function renewProgramFiles(runtimeDirectory: string): Promise<void> {
  if (embedded !== null) await unpackAgain(runtimeDirectory, embedded.parts);
}

/**
 * Reads every byte of a compiled program's unpacked parts and compares; unpacks them first where they are not there.
 * @returns what is wrong, by path; null from source, where nothing is unpacked
 * @throws {UnpackError}
 */
export async function verifyProgramFiles(
  runtimeDirectory: string,
): Promise<{ path: string; fault: "missing" | "changed" }[] | null> {
  if (embedded === null) return null;
  return verifyParts(await unpackParts(runtimeDirectory, embedded.parts), embedded.parts);
}

function below(root: string, layout: ProgramFiles): ProgramFiles {
  return {
    nativeDirectory: join(root, layout.nativeDirectory),
    onnxBinding: join(root, layout.onnxBinding),
    ffmpeg: join(root, layout.ffmpeg),
    whisperModel: join(root, layout.whisperModel),
    segmentationModel: join(root, layout.segmentationModel),
    embeddingModel: join(root, layout.embeddingModel),
    benchRecording: join(root, layout.benchRecording),
  };
}
