import { join } from "node:path";
import { available, corpusPath, mediaToolPath, root } from "../../harness/checkout.ts";
import { loadGgml } from "../../src/runtimes/index.ts";
import { openModel, type WhisperModel } from "../../src/speech/recognizer/whisper/index.ts";

export const nativeDirectory = join(root, "build", "native");
export const basePath = join(root, "build", "models", "ggml-base.bin");

/** Threads of each test. */
export const threads = 1;

/** Returns whether the addon, the model and these recordings of the corpus are available; prints what is missing. */
export function canTranscribe(what: string, ...recordings: readonly string[]): boolean {
  const paths = recordings.map(corpusPath);
  return available(what, join(nativeDirectory, "whisper.node"), basePath, mediaToolPath, ...paths);
}

let base: WhisperModel | undefined;

/** The base model, loaded once for all tests of a process. */
export function openBase(): WhisperModel {
  base ??= openModel(loadGgml({ nativeDirectory }), basePath, false);
  return base;
}

/** A recording of the corpus as 16 kHz mono samples. */
export async function readSamples(recording: string): Promise<Float32Array> {
  const child = Bun.spawn(
    [mediaToolPath, "-v", "error", "-i", corpusPath(recording), "-f", "f32le", "-ac", "1", "-ar", "16000", "-"],
    { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  );
  return new Float32Array(await new Response(child.stdout).arrayBuffer());
}
