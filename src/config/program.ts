import { join, resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };

/** Version of this program, as `transcribe version` prints it. */
export const programVersion: string = packageJson.version;

/** Where the parts that are not TypeScript lie: the addon, ffmpeg and the models. */
export interface ProgramFiles {
  /** Directory of whisper.node and its ggml libraries. */
  readonly nativeDirectory: string;
  readonly ffmpeg: string;
  readonly whisperModel: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
}

const checkout = resolve(import.meta.dir, "../..");

/** The parts as scripts/setup lays them out in a checkout. */
export const programFiles: ProgramFiles = {
  nativeDirectory: join(checkout, "build/native"),
  ffmpeg: join(checkout, "build/ffmpeg/ffmpeg"),
  whisperModel: join(checkout, "build/models/ggml-base.bin"),
  segmentationModel: join(checkout, "models/pyannote-segmentation.onnx"),
  embeddingModel: join(checkout, "models/resemblyzer-embedding.onnx"),
};

/**
 * Command line that starts this same program again with other arguments. From source, the runtime's own path comes first
 * and the entry has to be passed; `process.argv[1]` would be a test runner's.
 */
export function ownCommand(...args: string[]): string[] {
  return [process.execPath, join(checkout, "src/main.ts"), ...args];
}
