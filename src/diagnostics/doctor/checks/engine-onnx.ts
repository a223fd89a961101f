import { testDiarization } from "../../../speech/index.ts";
import { type Check, ok, problem } from "../check.ts";
import { filesOf } from "../files-of.ts";

export const engineOnnx: Check = {
  id: "engine.onnx",
  title: "Speaker models at work",
  explanation:
    "ONNX Runtime runs the two models that find speech and tell speakers apart, on a second of noise and in a process of its own. Without them no recording can be worked on.",
  heavy: true,
  async run(context) {
    const { onnxBinding, segmentationModel, embeddingModel } = filesOf(context);
    const { signal } = context;
    const test = await testDiarization({ onnxBinding, segmentationModel, embeddingModel, signal });
    if (test.ok) return ok(`both work (${test.answer.seconds.toFixed(2)} s for a few seconds of sound)`);
    return problem("the models that tell speakers apart don't run, so nothing can be transcribed", {
      detail: [test.reason],
      advice:
        "If the model files are whole (model.speakers), ONNX Runtime itself is missing or damaged: unpack the program again with `transcribe doctor --fix`, or run scripts/setup in a checkout.",
    });
  },
};
