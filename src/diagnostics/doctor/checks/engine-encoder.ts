import { encodersBeside } from "../../../server/index.ts";
import { describeEncoder } from "../../../speech/index.ts";
import { type Check, ok, skipped } from "../check.ts";
import { filesOf, speechModelOf } from "../files-of.ts";
import { cpuSurvey } from "../survey.ts";

export const engineEncoder: Check = {
  id: "engine.encoder",
  title: "Whisper's encoder",
  explanation:
    "Whisper spends most of its time in its encoder. On a CPU the server makes an encoder for ONNX Runtime of the model, and keeps it in state/encoders of the data directory. It is tried in a process of its own, with the first recording that has three minutes of speech, and used where it gives the same numbers as whisper.cpp's and is faster. A recording is done with one of them from its beginning to its end. To have it tried again, stop the server and remove state/devices.json.",
  heavy: true,
  async run(context) {
    if (context.data !== "there") return skipped("nothing was tried yet");
    const { used } = await cpuSurvey(context);
    if (used === null) return skipped("no variant of the CPU backend works");
    const { nativeDirectory, onnxBinding } = filesOf(context);
    const verdictsPath = context.paths.verdicts;
    const description = await describeEncoder({
      ...{ nativeDirectory, onnxBinding, verdictsPath, cpuLibrary: used, speechModel: speechModelOf(context) },
      encoderDirectory: encodersBeside(verdictsPath),
    });
    if (description === null)
      return skipped("it was not tried yet: the first recording with three minutes of speech does");
    return ok(description);
  },
};
