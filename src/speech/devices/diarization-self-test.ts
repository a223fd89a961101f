import { usableProcessors } from "../../machine/index.ts";
import { WINDOW_SAMPLES } from "../../timeline/index.ts";
import { embed, openDiarizationModels, segment } from "../diarization/index.ts";
import type { SelfTestAnswer, SelfTestParams } from "./self-tests.ts";

/** Length of the embedding model's test input, in samples (1.6 s). */
const VOICE_SAMPLES = 25_600;

/** Runs both diarization models on noise. @throws if a model fails or its output is invalid */
export async function computeDiarization(
  paths: SelfTestParams<"computeDiarization">,
): Promise<SelfTestAnswer<"computeDiarization">> {
  const models = await openDiarizationModels({ ...paths, threads: usableProcessors() });
  try {
    const start = performance.now();
    const activity = await segment(models, noise(WINDOW_SAMPLES));
    if (!activity.every((share) => share >= 0 && share <= 1)) {
      throw new Error("the segmentation model does not output probabilities");
    }
    const length = Math.hypot(...(await embed(models, noise(VOICE_SAMPLES))));
    if (!(Math.abs(length - 1) < 0.01)) throw new Error("the embedding model does not output unit vectors");
    return { seconds: (performance.now() - start) / 1000 };
  } finally {
    await models.dispose();
  }
}

/** Returns the same noise in every run: a linear congruential generator with the constants of Numerical Recipes. */
function noise(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 0.1 * (state / 2 ** 31 - 1);
  });
}
