import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { WINDOW_FRAMES } from "../blocks/index.ts";
import { chunkSchema, spanSchema, turnSchema, wordSchema, workAreaSchema } from "../timeline/index.ts";

/** The messages between server and worker, and the operations that a worker runs. */

const seconds = Type.Number({ minimum: 0 });
const path = Type.String({ minLength: 1 });

function operation<P extends TSchema, R extends TSchema>(params: P, result: R) {
  return { params, result } as const;
}

const none = Type.Object({});

/** Maximum number of spans of a voice, and of the numbers of its embedding. A machine of a fleet may send anything. */
const MAX_VOICE_SPANS = 100;
const MAX_EMBEDDING = 4096;

/** Maximum number of known words of a live pass: more than anybody says in its 30 s. */
const MAX_KNOWN_WORDS = 300;

/** Path of the encoder in ONNX form, where that form replaces the model's own encoder. */
const encoder = Type.Optional(path);

/** Every operation of the worker, with the schemas of its parameters and its result. */
export const operations = {
  /** Detects the speaker activity of one block of the recording and writes it to a file. */
  detectBlock: operation(Type.Object({ area: workAreaSchema, block: Type.Integer({ minimum: 0 }) }), none),
  /**
   * Finds the speech spans and packs them into chunks for the recognizer. Needs every block's activity, or that of the
   * first `blocks`.
   */
  planChunks: operation(
    Type.Object({
      area: workAreaSchema,
      /** Whether chunks continue over long silences, which one side of a call has. */
      joinsTurns: Type.Optional(Type.Boolean()),
      /** Number of known blocks: the result has only the first chunks, which the other blocks cannot change. */
      blocks: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    Type.Object({ chunks: Type.Array(chunkSchema) }),
  ),
  /** Returns the probability of each language in a chunk, by the model's codes; the probabilities sum up to 1. */
  detectLanguage: operation(
    Type.Object({ area: workAreaSchema, chunk: chunkSchema, model: path, encoder }),
    Type.Object({ probabilities: Type.Record(Type.String(), Type.Number()) }),
  ),
  /** Transcribes a chunk. */
  transcribe: operation(
    Type.Object({
      area: workAreaSchema,
      chunk: chunkSchema,
      model: path,
      encoder,
      language: Type.String(),
      /** Whether parts of the chunk may be in another language. */
      mayChangeLanguage: Type.Optional(Type.Boolean()),
      /** Names and terms to expect. */
      vocabulary: Type.Optional(Type.String()),
    }),
    Type.Object({
      words: Type.Array(wordSchema),
      /** Total duration of the words in seconds, by language. */
      languages: Type.Record(Type.String(), Type.Number()),
    }),
  ),
  /** Translates a chunk to English. */
  translate: operation(
    Type.Object({
      area: workAreaSchema,
      chunk: chunkSchema,
      model: path,
      encoder,
      /** The spoken language, by the model's code. */
      language: Type.String(),
    }),
    Type.Object({ words: Type.Array(wordSchema) }),
  ),
  /** Computes the voice embeddings of one block and writes them to a file. Needs the block's activity. */
  embedBlock: operation(Type.Object({ area: workAreaSchema, block: Type.Integer({ minimum: 0 }) }), none),
  /** Computes the speaker turns of the whole recording. Needs every block's activity and embeddings. */
  clusterSpeakers: operation(
    Type.Object({
      area: workAreaSchema,
      /** Bounds of the number of speakers. */
      minSpeakers: Type.Optional(Type.Integer({ minimum: 1 })),
      maxSpeakers: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    Type.Object({ turns: Type.Array(turnSchema) }),
  ),
  /**
   * Computes the voice embeddings of one block of sentences and writes them to a file. Reuses those of the first pass.
   */
  embedSentences: operation(
    Type.Object({ area: workAreaSchema, spans: Type.Array(spanSchema), block: Type.Integer({ minimum: 0 }) }),
    none,
  ),
  /**
   * Returns each sentence's speaker: the given one, or one whose voice clearly fits better. `margin`: how much more
   * similar the voice is to that speaker's than to any other's. Needs all voice embeddings.
   */
  compareSentences: operation(
    Type.Object({
      area: workAreaSchema,
      sentences: Type.Array(Type.Object({ speaker: Type.Integer({ minimum: 0 }), seconds })),
    }),
    Type.Object({
      owners: Type.Array(Type.Object({ speaker: Type.Integer({ minimum: 0 }), margin: Type.Number() })),
    }),
  ),
  /**
   * Returns the voice of each speaker over the whole track, by the clean speech in the speaker's turns. Needs every
   * block's embeddings. Requested only for accounts that remember voices.
   */
  describeSpeakers: operation(
    Type.Object({ area: workAreaSchema, turns: Type.Array(turnSchema) }),
    Type.Object({
      voices: Type.Array(
        Type.Object({ speaker: Type.Integer({ minimum: 0 }), seconds, embedding: Type.Array(Type.Number()) }),
      ),
    }),
  ),
  /**
   * Transcribes a span of a live session, of at most 30 s, in one fast pass. The session's PCM may grow meanwhile: the
   * area's `sampleCount` is the number of samples at the time of the request. Words have times from the start of the PCM.
   * Returns only the words after the known ones.
   */
  transcribeLive: operation(
    Type.Object({
      area: workAreaSchema,
      span: spanSchema,
      model: path,
      encoder,
      /** The model's code. */
      language: Type.String(),
      /** Names and terms to expect. */
      vocabulary: Type.Optional(Type.String()),
      /** The words with which the span begins, if these are known. */
      known: Type.Optional(Type.Array(wordSchema, { maxItems: MAX_KNOWN_WORDS })),
    }),
    Type.Object({ words: Type.Array(wordSchema) }),
  ),
  /**
   * Returns the probability that anyone speaks, for each frame of the segmentation window that ends at `endSample`. The
   * first frame starts `WINDOW_SAMPLES` before, which may be before the first sample.
   */
  detectSpeech: operation(
    Type.Object({ area: workAreaSchema, endSample: Type.Integer({ minimum: 1 }) }),
    Type.Object({
      probabilities: Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
        minItems: WINDOW_FRAMES,
        maxItems: WINDOW_FRAMES,
      }),
    }),
  ),
  /** Returns the embedding of the voice in spans of one speaker, without its channel component, of unit length. */
  embedSpeech: operation(
    Type.Object({ area: workAreaSchema, spans: Type.Array(spanSchema, { minItems: 1, maxItems: MAX_VOICE_SPANS }) }),
    Type.Object({ embedding: Type.Array(Type.Number(), { maxItems: MAX_EMBEDDING }) }),
  ),
  /**
   * Returns the probability of each language in a span of a live session, of at most 30 s, by the model's codes; the
   * probabilities sum up to 1.
   */
  detectLiveLanguage: operation(
    Type.Object({ area: workAreaSchema, span: spanSchema, model: path, encoder }),
    Type.Object({ probabilities: Type.Record(Type.String(), Type.Number()) }),
  ),
  /** Self-test: runs silence through the models of speaker diarization, and through a speech model if one is named. */
  selfTest: operation(Type.Object({ model: Type.Optional(path) }), none),
} as const;

export type OperationName = keyof typeof operations;
export type Params<N extends OperationName> = Static<(typeof operations)[N]["params"]>;
export type Result<N extends OperationName> = Static<(typeof operations)[N]["result"]>;

/** Operations of live sessions, for whose results people wait. */
const liveOperations = [
  "transcribeLive",
  "detectSpeech",
  "embedSpeech",
  "detectLiveLanguage",
] as const satisfies OperationName[];
export type LiveOperation = (typeof liveOperations)[number];

export function isLiveOperation(operation: OperationName): operation is LiveOperation {
  return liveOperations.some((live) => live === operation);
}

const operationNames = Object.fromEntries(Object.keys(operations).map((name) => [name, name])) as {
  [N in OperationName]: N;
};

/** A GPU and the backend that drives it. */
export const gpuSchema = Type.Object({
  /** File name of the backend, or its path when it lies in another directory. */
  library: path,
  /** Name in logs and metrics, made of backend and number: `CUDA1`. */
  label: Type.String({ minLength: 1 }),
  /** The driver's name of the GPU. */
  name: Type.String(),
  /** Environment variables that make only this GPU visible to a process; empty when it is the only one. */
  environment: Type.Record(Type.String(), Type.String()),
});
export type Gpu = Static<typeof gpuSchema>;

const workerRole = { speech: "speech", speakers: "speakers" } as const;

/** The first message to a worker: what it loads. */
const startSchema = Type.Object({
  type: Type.Literal("start"),
  /**
   * Operations that the worker runs, and loads models for: `speech` those with the recognizer; `speakers` the others.
   * Without it, the worker runs all.
   */
  role: Type.Optional(Type.Enum(workerRole)),
  nativeDirectory: path,
  /** File name of the CPU variant. */
  cpuLibrary: path,
  /** GPU that the recognizer computes on; without it the recognizer computes on the CPU. */
  gpu: Type.Optional(gpuSchema),
  /** The first speech model to load; each operation names the model that it uses. */
  speechModel: path,
  /** Path of ONNX Runtime's addon, in a compiled program; see runtimes/onnx-runtime.ts. */
  onnxBinding: path,
  segmentationModel: path,
  embeddingModel: path,
  /** Threads of each operation. */
  threads: Type.Integer({ minimum: 1 }),
  /** Threads of each operation that runs the recognizer. */
  speechThreads: Type.Integer({ minimum: 1 }),
  /** Number of operations that the worker receives at the same time. */
  lanes: Type.Integer({ minimum: 1 }),
  /** Maximum number of operations that the recognizer evaluates in one graph; by default each has graphs of its own. */
  slots: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type WorkerStart = Static<typeof startSchema>;
export type WorkerRole = keyof typeof workerRole;

export const toWorkerSchema = Type.Union([
  startSchema,
  Type.Object({
    type: Type.Literal("run"),
    id: Type.Integer(),
    operation: Type.Enum(operationNames),
    params: Type.Unknown(),
  }),
  Type.Object({ type: Type.Literal("cancel"), id: Type.Integer() }),
  /** Makes the worker free all speech models except these. */
  Type.Object({ type: Type.Literal("keepModels"), paths: Type.Array(path) }),
]);
export type ToWorker = Static<typeof toWorkerSchema>;

const gpuMemorySchema = Type.Object({
  freeBytes: Type.Number({ minimum: 0 }),
  totalBytes: Type.Number({ minimum: 0 }),
});
export type GpuMemory = Static<typeof gpuMemorySchema>;

const decoderWorkSchema = Type.Object({
  /** Steps of the decoder that all operations with slots share, and the rows of texts in them. */
  steps: Type.Integer({ minimum: 0 }),
  rows: Type.Integer({ minimum: 0 }),
});
export type DecoderWork = Static<typeof decoderWorkSchema>;

const gpuFailureSchema = Type.Object({ message: Type.String(), outOfMemory: Type.Boolean() });
export type GpuFailure = Static<typeof gpuFailureSchema>;

export const fromWorkerSchema = Type.Union([
  Type.Object({
    type: Type.Literal("ready"),
    cpuVariant: Type.String(),
    devices: Type.Array(Type.String()),
    /** `cpu`, or the backend of the recognizer's GPU in lower case. */
    speechDevice: Type.String(),
  }),
  /** Sent at regular intervals by a worker whose recognizer computes on a GPU: the memory of that GPU. */
  Type.Object({ type: Type.Literal("gpuMemory"), memory: gpuMemorySchema }),
  /** Sent with it where operations are decoded together: the work since the worker's start. */
  Type.Object({ type: Type.Literal("decoderWork"), work: decoderWorkSchema }),
  /** The GPU failed and the server must kill the worker: the operations that it is running get no answer. */
  Type.Object({ type: Type.Literal("gpuFailed"), failure: gpuFailureSchema }),
  /** The worker cannot work at all; it exits after this message. */
  Type.Object({ type: Type.Literal("unusable"), message: Type.String() }),
  Type.Object({ type: Type.Literal("done"), id: Type.Integer(), result: Type.Unknown() }),
  Type.Object({
    type: Type.Literal("failed"),
    id: Type.Integer(),
    message: Type.String(),
    /** The system error code, e.g. `ENOSPC`, where there is one. */
    code: Type.Optional(Type.String()),
  }),
]);
export type FromWorker = Static<typeof fromWorkerSchema>;
