import { askSelfTest, type Trial, type TrialOptions } from "./ask-self-test.ts";
import { type Timing, timingSchema } from "./self-test-answers.ts";

/** ONNX Runtime's addon, and the models that tell speakers apart. */
export interface SpeakerTrialOptions extends TrialOptions {
  readonly onnxBinding: string;
  readonly segmentationModel: string;
  readonly embeddingModel: string;
}

const timeoutMilliseconds = 60_000;

/** Has the models that tell speakers apart do a little work on the CPU. @throws the signal's reason */
export function tryOnnx(options: SpeakerTrialOptions): Promise<Trial<Timing>> {
  const { onnxBinding, segmentationModel, embeddingModel } = options;
  return askSelfTest(
    { ...options, timeoutMilliseconds },
    ["onnx", onnxBinding, segmentationModel, embeddingModel],
    timingSchema,
  );
}
