import { speakerParts } from "../../engine/index.ts";
import { dieWithParent } from "../../program/index.ts";
import { messageOf } from "../../text/index.ts";
import { onnxLibraryOf } from "../diarization/index.ts";
import { type GgmlRuntime, loadGgml, rateCpuLibrary } from "../ggml.ts";
import { type EncoderComparison, familyOf } from "../recognizer/index.ts";
import { compareSpeakers } from "./compare-speakers.ts";
import { computeWithOnnx } from "./compute-with-onnx.ts";
import { computeWithModel, transcribeSample } from "./recognizer-self-test.ts";
import type { DeviceList } from "./self-test-answers.ts";

type Mode = (...args: string[]) => Promise<unknown>;

/**
 * The self-tests. Each prints its answer as one line of JSON:
 * - `score DIRECTORY LIBRARY` returns ggml's rating of a CPU variant.
 * - `run DIRECTORY LIBRARY MODEL` computes with a CPU variant.
 * - `devices DIRECTORY LIBRARY GPU-LIBRARY` lists the compute devices.
 * - `speech DIRECTORY LIBRARY MODEL PCM [GPU-LIBRARY]` transcribes a sample on the CPU or with a GPU backend.
 * - `onnx BINDING SEGMENTATION EMBEDDING` runs the diarization models.
 * - `speakers BINDING SEGMENTATION EMBEDDING PART PCM` compares one diarization model on a GPU and on the CPU.
 * - `encoder DIRECTORY LIBRARY MODEL BINDING ENCODERS` creates the ONNX form of a model's encoder and compares it.
 */
const modes: Readonly<Record<string, Mode>> = {
  score: async (nativeDirectory = "", library = "") => rateCpuLibrary(nativeDirectory, library),
  run: async (nativeDirectory = "", library = "", model = "") =>
    computeWithModel(loadGgml({ nativeDirectory, cpuLibrary: library, gpu: [] }), model),
  devices: async (nativeDirectory = "", library = "", gpuLibrary = ""): Promise<DeviceList> => {
    const runtime = loadGgml({ nativeDirectory, cpuLibrary: library, gpu: [gpuLibrary] });
    return { devices: runtime.devices(), unusable: [...runtime.unusable] };
  },
  speech: async (nativeDirectory = "", library = "", model = "", pcm = "", gpuLibrary = "") => {
    const usesGpu = gpuLibrary !== "";
    const runtime = loadGgml({ nativeDirectory, cpuLibrary: library, gpu: usesGpu ? [gpuLibrary] : [] });
    if (usesGpu) checkHasGpu(runtime);
    return await transcribeSample(runtime, model, pcm, usesGpu);
  },
  encoder: async (nativeDirectory = "", library = "", model = "", binding = "", directory = "") =>
    compareEncoders(loadGgml({ nativeDirectory, cpuLibrary: library, gpu: [] }), model, binding, directory),
  onnx: async (binding = "", segmentation = "", embedding = "") => computeWithOnnx(binding, segmentation, embedding),
  speakers: async (onnxBinding = "", segmentationPath = "", embeddingPath = "", name = "", pcmPath = "") => {
    const part = speakerParts.find((each) => each === name);
    if (part === undefined) throw new Error(`there is no speaker model "${name}"`);
    return await compareSpeakers({ onnxBinding, segmentationPath, embeddingPath, part, pcmPath });
  },
};

/**
 * Runs a self-test in the process that may crash. This process exits together with its parent. Anything but a printed
 * answer and exit code 0 is a failure, whose message goes to stderr.
 */
export async function runSelfTest(args: readonly string[]): Promise<void> {
  dieWithParent();
  const [name = "", ...rest] = args;
  try {
    const mode = Object.hasOwn(modes, name) ? modes[name] : undefined;
    if (mode === undefined) throw new Error(`the self-test knows no "${name}"`);
    console.log(JSON.stringify(await mode(...rest)));
  } catch (error) {
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}

/** Throws if no GPU is usable. The model would then compute on the CPU, and the self-test would prove nothing. */
function checkHasGpu(runtime: GgmlRuntime): void {
  const [unusable] = runtime.unusable;
  if (unusable !== undefined) throw new Error(unusable.reason);
  if (!runtime.devices().some(({ kind }) => kind === "gpu" || kind === "igpu")) {
    throw new Error("it finds no GPU that it can use");
  }
}

async function compareEncoders(
  runtime: GgmlRuntime,
  modelPath: string,
  onnxBinding: string,
  directory: string,
): Promise<EncoderComparison> {
  const { compareEncoders: compare } = familyOf(modelPath);
  if (compare === null) return { unsuitable: "models of its family have no encoder for ONNX Runtime" };
  return await compare({ runtime, modelPath, library: onnxLibraryOf(onnxBinding), directory });
}
