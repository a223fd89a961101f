import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { computeDeviceSchema, instructionsSchema, unusableBackendSchema } from "../runtimes/index.ts";
import { encoderComparisonSchema } from "../speech/index.ts";

const path = Type.String({ minLength: 1 });
const cpuBackend = { nativeDirectory: path, cpuLibrary: path };
/** Time without loading the models. */
const seconds = Type.Number({ minimum: 0 });

function selfTest<P extends TSchema, A extends TSchema>(timeoutSeconds: number, params: P, answer: A) {
  return { params, answer, timeoutMilliseconds: timeoutSeconds * 1000 };
}

/** The self-tests with time limits and the schemas of parameters and answers. Each runs in a process that may crash. */
export const selfTests = {
  /** Returns ggml's rating of a CPU variant. */
  rateCpuLibrary: selfTest(180, Type.Object(cpuBackend), Type.Object({ score: Type.Number({ minimum: 0 }) })),
  /**
   * Computes a short signal with a CPU variant, and returns the instructions of our own kernels. The limit suits a large
   * model without newer CPU instructions.
   */
  computeOnCpu: selfTest(
    180,
    Type.Object({ ...cpuBackend, speechModel: path }),
    Type.Object({ seconds, instructions: instructionsSchema }),
  ),
  /** Lists the compute devices of a GPU backend. */
  listDevices: selfTest(
    60,
    Type.Object({ ...cpuBackend, gpuLibrary: path }),
    Type.Object({ devices: Type.Array(computeDeviceSchema), unusable: Type.Array(unusableBackendSchema) }),
  ),
  /**
   * Returns the words of a PCM file in lower case, and the time of a pass. Some GPU drivers take minutes to compile their
   * kernels.
   */
  transcribeSample: selfTest(
    300,
    Type.Object({ ...cpuBackend, speechModel: path, pcmPath: path, gpuLibrary: Type.Optional(path) }),
    Type.Object({ seconds, words: Type.Array(Type.String()) }),
  ),
  /** Creates the ONNX form of a model's encoder and compares both. The limit suits a large model on a slow disk. */
  compareEncoders: selfTest(
    600,
    Type.Object({ ...cpuBackend, speechModel: path, onnxBinding: path, encoderDirectory: path }),
    encoderComparisonSchema,
  ),
  /** Runs both diarization models on the CPU. */
  computeDiarization: selfTest(
    60,
    Type.Object({ onnxBinding: path, segmentationModel: path, embeddingModel: path }),
    Type.Object({ seconds }),
  ),
} as const;

export type SelfTestName = keyof typeof selfTests;
export type SelfTestParams<N extends SelfTestName> = Static<(typeof selfTests)[N]["params"]>;
export type SelfTestAnswer<N extends SelfTestName> = Static<(typeof selfTests)[N]["answer"]>;

/** The only argument of a self-test process, as JSON. The parameters are checked by the schema of the named test. */
export const requestSchema = Type.Object({ name: Type.String(), params: Type.Unknown() });
