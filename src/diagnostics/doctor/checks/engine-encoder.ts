import { describeEncoder } from "../../../speech/index.ts";
import { type Check, ok, skipped } from "../check.ts";
import { filesOf, speechModelOf } from "../files-of.ts";
import { cpuSurvey } from "../survey.ts";

export const engineEncoder: Check = {
  id: "engine.encoder",
  title: "Speech model's encoder",
  explanation:
    "A speech model spends most of its time in its encoder. On a CPU the server builds a form of the encoder for ONNX Runtime and stores it in state/encoders of the data directory. The first recording with three minutes of speech runs its self-test, in a separate process. It is used if it gives the same numbers as the model's own encoder and is faster. Each recording uses one encoder from start to end. To repeat the self-test, stop the server and remove state/devices.json.",
  heavy: true,
  async run(context) {
    if (context.data !== "there") return skipped("nothing was tried yet");
    const { used } = await cpuSurvey(context);
    if (used === null) return skipped("no variant of the CPU backend works");
    const { nativeDirectory, onnxBinding } = filesOf(context);
    const description = await describeEncoder({
      nativeDirectory,
      onnxBinding,
      verdictsPath: context.paths.verdicts,
      cpuLibrary: used,
      speechModel: speechModelOf(context),
    });
    if (description === null)
      return skipped("it was not tried yet: the first recording with three minutes of speech does");
    return ok(description);
  },
};
