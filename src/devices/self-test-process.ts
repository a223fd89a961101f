import { Value } from "@sinclair/typebox/value";
import { WINDOW_SAMPLES } from "../blocks/index.ts";
import { usableProcessors } from "../machine/index.ts";
import { dieWithParent } from "../program/index.ts";
import { type GgmlRuntime, loadGgml, onnxLibraryOf, rateCpuLibrary } from "../runtimes/index.ts";
import { embed, familyOf, openDiarizationModels, segment } from "../speech/index.ts";
import { messageOf } from "../text/index.ts";
import { computeWithModel, transcribeSample } from "./recognizer-self-test.ts";
import { requestSchema, type SelfTestAnswer, type SelfTestName, type SelfTestParams, selfTests } from "./self-tests.ts";

type Handlers = { [N in SelfTestName]: (params: SelfTestParams<N>) => Promise<SelfTestAnswer<N>> };

const handlers: Handlers = {
  rateCpuLibrary: async ({ nativeDirectory, cpuLibrary }) => ({ score: rateCpuLibrary(nativeDirectory, cpuLibrary) }),
  computeOnCpu: async ({ speechModel, ...backend }) => computeWithModel(loadGgml({ ...backend, gpu: [] }), speechModel),
  async listDevices({ gpuLibrary, ...backend }) {
    const runtime = loadGgml({ ...backend, gpu: [gpuLibrary] });
    return { devices: runtime.devices(), unusable: [...runtime.unusable] };
  },
  async transcribeSample({ nativeDirectory, cpuLibrary, speechModel, pcmPath, gpuLibrary }) {
    const runtime = loadGgml({ nativeDirectory, cpuLibrary, gpu: gpuLibrary === undefined ? [] : [gpuLibrary] });
    if (gpuLibrary !== undefined) requireGpu(runtime);
    return await transcribeSample(runtime, speechModel, pcmPath, gpuLibrary !== undefined);
  },
  async compareEncoders({ nativeDirectory, cpuLibrary, speechModel, onnxBinding, encoderDirectory }) {
    const { compareEncoders } = familyOf(speechModel);
    if (compareEncoders === null) return { unsuitable: "models of its family have no encoder for ONNX Runtime" };
    const runtime = loadGgml({ nativeDirectory, cpuLibrary, gpu: [] });
    const library = onnxLibraryOf(onnxBinding);
    return await compareEncoders({ runtime, modelPath: speechModel, library, directory: encoderDirectory });
  },
  computeDiarization,
};

/**
 * Runs a self-test in this process, which may crash and exits together with its parent. Anything but an answer, printed
 * as one line of JSON, and exit code 0 is a failure, whose message goes to stderr.
 * @param args the request as JSON, see `requestSchema`
 */
export async function runSelfTestProcess([request = ""]: readonly string[]): Promise<void> {
  dieWithParent();
  try {
    const { name, params } = Value.Parse(requestSchema, JSON.parse(request));
    if (!isSelfTest(name)) throw new Error(`there is no self-test ${JSON.stringify(name)}`);
    const handle = handlers[name] as (params: unknown) => Promise<unknown>;
    console.log(JSON.stringify(await handle(Value.Parse(selfTests[name].params, params))));
  } catch (error) {
    console.error(messageOf(error));
    process.exitCode = 1;
  }
}

function isSelfTest(name: string): name is SelfTestName {
  return Object.hasOwn(selfTests, name);
}

/** Throws if no GPU is usable. The model would then compute on the CPU, and the self-test would prove nothing. */
function requireGpu(runtime: GgmlRuntime): void {
  const [unusable] = runtime.unusable;
  if (unusable !== undefined) throw new Error(unusable.reason);
  if (runtime.gpus().length === 0) throw new Error("it finds no usable GPU");
}

/** Length of the embedding model's test input, in samples (1.6 s). */
const VOICE_SAMPLES = 25_600;

/** Runs both diarization models on noise. @throws if a model fails or its output is invalid */
async function computeDiarization(
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
