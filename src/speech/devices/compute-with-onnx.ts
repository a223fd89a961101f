import { availableParallelism } from "node:os";
import { WINDOW_SAMPLES } from "../../timeline/index.ts";
import { embed, openDiarizationModels, segment } from "../diarization/index.ts";
import type { Timing } from "./self-test-answers.ts";

/** Length of the embedding model's test input, in samples (1.6 s). */
const VOICE_SAMPLES = 25_600;

/**
 * Runs both diarization models on noise and returns the time without loading them.
 * @throws if a model fails or its output is invalid
 */
export async function computeWithOnnx(
  onnxBinding: string,
  segmentationPath: string,
  embeddingPath: string,
): Promise<Timing> {
  const threads = availableParallelism();
  const models = await openDiarizationModels({ onnxBinding, segmentationPath, embeddingPath, threads });
  try {
    const start = performance.now();
    const activity = await segment(models, noise(WINDOW_SAMPLES));
    if (!activity.every((share) => share >= 0 && share <= 1)) {
      throw new Error("the segmentation model computes no probabilities");
    }
    const voice = await embed(models, noise(VOICE_SAMPLES));
    const length = Math.hypot(...voice);
    if (!(Math.abs(length - 1) < 0.01)) throw new Error("the embedding model computes no unit vectors");
    return { seconds: (performance.now() - start) / 1000 };
  } finally {
    await models.dispose();
  }
}

/**
 * Returns noise that is the same in every run: a linear congruential generator with the constants of Numerical Recipes.
 */
function noise(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0.1 * (state / 2 ** 31 - 1);
  });
}
