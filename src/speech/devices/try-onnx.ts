import { askSelfTest, type Trial, type TrialOptions } from "./ask-self-test.ts";
import { type Timing, timingSchema } from "./self-test-answers.ts";

/** ONNX Runtime's addon and the diarization models. */
export interface SpeakerTrialOptions extends TrialOptions {
  readonly onnxBinding: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
}

const timeoutMilliseconds = 60_000;

/**
 * Runs the diarization models briefly on the CPU in a separate process.
 * @throws the signal's reason if it is aborted
 */
export function tryOnnx(options: SpeakerTrialOptions): Promise<Trial<Timing>> {
  const { onnxBinding, segmentationModel, embeddingModel } = options;
  return askSelfTest(
    { ...options, timeoutMilliseconds },
    ["onnx", onnxBinding, segmentationModel, embeddingModel],
    timingSchema,
  );
}
