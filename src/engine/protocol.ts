import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { chunkSchema, pcmFileSchema, spanSchema, turnSchema, wordSchema } from "../timeline/index.ts";

/** The messages between server and worker, and the operations that a worker runs. */

const seconds = Type.Number({ minimum: 0 });
const path = Type.String({ minLength: 1 });

interface Operation {
  readonly params: TSchema;
  readonly result: TSchema;
}

function operation<P extends TSchema, R extends TSchema>(params: P, result: R) {
  return { params, result } as const satisfies Operation;
}

const none = Type.Object({});

/** The ONNX form of the model's encoder, where that encodes in place of the model's own. */
const encoder = Type.Optional(path);

/** Every operation of the worker: what goes in, what comes out. */
export const operations = {
  /** Speaker activity of one block of the recording, into a file. */
  detectBlock: operation(
    Type.Object({ pcm: pcmFileSchema, block: Type.Integer({ minimum: 0 }), activityDirectory: path }),
    none,
  ),
  /** Where there is speech, and the chunks that whisper takes. Needs every block's activity. */
  planChunks: operation(
    Type.Object({
      pcm: pcmFileSchema,
      activityDirectory: path,
      /** Whether chunks go on over long silences, as one side of a call has them. */
      joinsTurns: Type.Optional(Type.Boolean()),
    }),
    Type.Object({ chunks: Type.Array(chunkSchema) }),
  ),
  /** How probable each language is in a chunk, by whisper's codes; they sum up to 1. */
  detectLanguage: operation(
    Type.Object({ pcm: pcmFileSchema, chunk: chunkSchema, model: path, encoder }),
    Type.Object({ probabilities: Type.Record(Type.String(), Type.Number()) }),
  ),
  /** What is said in a chunk. */
  transcribe: operation(
    Type.Object({
      pcm: pcmFileSchema,
      chunk: chunkSchema,
      model: path,
      encoder,
      language: Type.String(),
      /** Whether parts of it may be in another language. */
      mayChangeLanguage: Type.Optional(Type.Boolean()),
      /** Names and terms to expect. */
      vocabulary: Type.Optional(Type.String()),
    }),
    Type.Object({
      words: Type.Array(wordSchema),
      /** Seconds of its words, by the language that they are in. */
      languages: Type.Record(Type.String(), Type.Number()),
    }),
  ),
  /** Voice embeddings of one block, into a file. Needs the block's activity. */
  embedBlock: operation(
    Type.Object({
      pcm: pcmFileSchema,
      block: Type.Integer({ minimum: 0 }),
      activityDirectory: path,
      embeddingDirectory: path,
    }),
    none,
  ),
  /** Who speaks when, over the whole recording. Needs every block's activity and embeddings. */
  clusterSpeakers: operation(
    Type.Object({ pcm: pcmFileSchema, activityDirectory: path, embeddingDirectory: path }),
    Type.Object({ turns: Type.Array(turnSchema) }),
  ),
  /** The voices in one block of sentences, into a file. Goes by the embeddings of the blocks as far as they tell. */
  embedSentences: operation(
    Type.Object({
      pcm: pcmFileSchema,
      spans: Type.Array(spanSchema),
      block: Type.Integer({ minimum: 0 }),
      embeddingDirectory: path,
      voiceDirectory: path,
    }),
    none,
  ),
  /** Whose voice each sentence has: its speaker's, or another's where that is clear. Needs every block's voices. */
  compareSentences: operation(
    Type.Object({
      voiceDirectory: path,
      sentences: Type.Array(Type.Object({ speaker: Type.Integer({ minimum: 0 }), seconds })),
    }),
    Type.Object({ speakers: Type.Array(Type.Integer({ minimum: 0 })) }),
  ),
  /** A little of what all others do, to see whether it can be done: silence through the models that tell speakers apart. */
  tryOut: operation(
    Type.Object({
      /** And through this whisper model. */
      model: Type.Optional(path),
    }),
    none,
  ),
} as const;

export type OperationName = keyof typeof operations;
export type Params<N extends OperationName> = Static<(typeof operations)[N]["params"]>;
export type Result<N extends OperationName> = Static<(typeof operations)[N]["result"]>;

const operationNames = Object.fromEntries(Object.keys(operations).map((name) => [name, name])) as {
  [N in OperationName]: N;
};

/** A GPU, and the backend that drives it. */
export const gpuSchema = Type.Object({
  /** The backend: its file name, or the path of one that lies elsewhere. */
  library: path,
  /** Its name in the log and in metrics, of backend and number: `CUDA1`. */
  label: Type.String({ minLength: 1 }),
  /** The driver's name for it. */
  name: Type.String(),
  /** Environment variables that make a process see this GPU alone; none where it is the only one. */
  environment: Type.Record(Type.String(), Type.String()),
});
export type Gpu = Static<typeof gpuSchema>;

const speakerPart = { segmentation: "segmentation", embedding: "embedding" } as const;
/** A model of speaker diarization. */
export type SpeakerPart = keyof typeof speakerPart;
export const speakerParts: readonly SpeakerPart[] = [speakerPart.segmentation, speakerPart.embedding];

/** The first message to a worker: what it shall load. */
const startSchema = Type.Object({
  type: Type.Literal("start"),
  nativeDirectory: path,
  /** File name of the CPU variant to load. */
  cpuLibrary: path,
  /** What whisper computes on; without one the CPU computes. */
  gpu: Type.Optional(gpuSchema),
  /** The whisper model to begin with; operations name the one they are done with. */
  whisperModel: path,
  /** ONNX Runtime's addon, where this program is compiled; see diarization/onnx-binding.ts. */
  onnxBinding: path,
  segmentationModel: path,
  embeddingModel: path,
  /** Those of the two that ONNX Runtime computes on a GPU; by default none. */
  speakersOnGpu: Type.Optional(Type.Array(Type.Enum(speakerPart))),
  /** Threads of one operation. */
  threads: Type.Integer({ minimum: 1 }),
  /** Threads of one of whisper's operations, which all workers may be doing at the same time. */
  speechThreads: Type.Integer({ minimum: 1 }),
  /** Operations that the worker is given at once. */
  lanes: Type.Integer({ minimum: 1 }),
});
export type Start = Static<typeof startSchema>;

export const toWorkerSchema = Type.Union([
  startSchema,
  Type.Object({
    type: Type.Literal("run"),
    id: Type.Integer(),
    operation: Type.Enum(operationNames),
    params: Type.Unknown(),
  }),
  Type.Object({ type: Type.Literal("cancel"), id: Type.Integer() }),
  /** Whisper models other than these are not needed any more. */
  Type.Object({ type: Type.Literal("keepModels"), paths: Type.Array(path) }),
]);
export type ToWorker = Static<typeof toWorkerSchema>;

const gpuMemorySchema = Type.Object({
  freeBytes: Type.Number({ minimum: 0 }),
  totalBytes: Type.Number({ minimum: 0 }),
});
export type GpuMemory = Static<typeof gpuMemorySchema>;

const gpuFailureSchema = Type.Object({
  message: Type.String(),
  outOfMemory: Type.Boolean(),
  /** What the GPU was computing, where that was not whisper. */
  part: Type.Optional(Type.Literal("speakers")),
});
export type GpuFailure = Static<typeof gpuFailureSchema>;

export const fromWorkerSchema = Type.Union([
  Type.Object({
    type: Type.Literal("ready"),
    cpuVariant: Type.String(),
    devices: Type.Array(Type.String()),
    /** `cpu`, or the backend of the GPU that whisper computes on, in lower case. */
    speechDevice: Type.String(),
  }),
  /** Sent now and then by a worker that computes on a GPU: the memory of that one. */
  Type.Object({ type: Type.Literal("gpuMemory"), memory: gpuMemorySchema }),
  /** The GPU failed, and the worker is to be ended: what it was given at that moment is not answered. */
  Type.Object({ type: Type.Literal("gpuFailed"), failure: gpuFailureSchema }),
  /** The worker can't work at all; it ends after this. */
  Type.Object({ type: Type.Literal("unusable"), message: Type.String() }),
  Type.Object({ type: Type.Literal("done"), id: Type.Integer(), result: Type.Unknown() }),
  Type.Object({
    type: Type.Literal("failed"),
    id: Type.Integer(),
    message: Type.String(),
    /** The system's, e.g. `ENOSPC`, where it has one. */
    code: Type.Optional(Type.String()),
  }),
]);
export type FromWorker = Static<typeof fromWorkerSchema>;
