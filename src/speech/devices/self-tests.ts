import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { computeDeviceSchema, unusableBackendSchema } from "../ggml.ts";
import { encoderComparisonSchema } from "../recognizer/index.ts";

const path = Type.String({ minLength: 1 });
const cpuBackend = { nativeDirectory: path, cpuLibrary: path };
const diarizationModels = { onnxBinding: path, segmentationModel: path, embeddingModel: path };
/** Time without loading the models. */
const seconds = Type.Number({ minimum: 0 });

function selfTest<P extends TSchema, A extends TSchema>(params: P, answer: A) {
  return { params, answer };
}

/** The self-tests with the schemas of their parameters and answers. Each runs in a process that may crash. */
export const selfTests = {
  /** Returns ggml's rating of a CPU variant. */
  rateCpuLibrary: selfTest(Type.Object(cpuBackend), Type.Object({ score: Type.Number({ minimum: 0 }) })),
  /** Computes a short signal with a CPU variant. */
  computeOnCpu: selfTest(Type.Object({ ...cpuBackend, speechModel: path }), Type.Object({ seconds })),
  /** Lists the compute devices of a GPU backend. */
  listDevices: selfTest(
    Type.Object({ ...cpuBackend, gpuLibrary: path }),
    Type.Object({ devices: Type.Array(computeDeviceSchema), unusable: Type.Array(unusableBackendSchema) }),
  ),
  /** Transcribes a PCM file with a GPU backend, or on the CPU; returns the words in lower case. */
  transcribeSample: selfTest(
    Type.Object({ ...cpuBackend, speechModel: path, pcmPath: path, gpuLibrary: Type.Optional(path) }),
    Type.Object({ seconds, words: Type.Array(Type.String()) }),
  ),
  /** Creates the ONNX form of a model's encoder and compares it with the model's own encoder. */
  compareEncoders: selfTest(
    Type.Object({ ...cpuBackend, speechModel: path, onnxBinding: path, encoderDirectory: path }),
    encoderComparisonSchema,
  ),
  /** Runs both diarization models on the CPU. */
  computeDiarization: selfTest(Type.Object(diarizationModels), Type.Object({ seconds })),
  /** Compares one diarization model on a GPU and on the CPU. */
  compareDiarization: selfTest(
    Type.Object({
      ...diarizationModels,
      part: Type.Union([Type.Literal("segmentation"), Type.Literal("embedding")]),
      pcmPath: path,
    }),
    Type.Object({
      seconds,
      cpuSeconds: Type.Number({ exclusiveMinimum: 0 }),
      /** Mean error of the GPU's probabilities, or 1 minus the lowest cosine similarity of its embeddings. */
      error: Type.Number(),
    }),
  ),
} as const;

export type SelfTestName = keyof typeof selfTests;
export type SelfTestParams<N extends SelfTestName> = Static<(typeof selfTests)[N]["params"]>;
export type SelfTestAnswer<N extends SelfTestName> = Static<(typeof selfTests)[N]["answer"]>;

/** The only argument of a self-test process, as JSON. The parameters are checked by the schema of the named test. */
export const requestSchema = Type.Object({ name: Type.String(), params: Type.Unknown() });
