import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** Answer of a self-test that only computes: its time without loading the models. */
export const timingSchema = Type.Object({ seconds: Type.Number({ minimum: 0 }) });
export type Timing = Static<typeof timingSchema>;

/** Answer of a self-test that transcribes a sample: its time without loading the model, and the words in lower case. */
export const transcribedSampleSchema = Type.Object({
  seconds: Type.Number({ minimum: 0 }),
  words: Type.Array(Type.String()),
});
export type TranscribedSample = Static<typeof transcribedSampleSchema>;

/** Answer of the comparison of a model's encoders: why there is no ONNX form, or the result. */
export const encoderAnswerSchema = Type.Union([
  Type.Object({ unsuitable: Type.String() }),
  Type.Object({
    /** Name of the created ONNX form in the directory of encoders. */
    name: Type.String({ minLength: 1 }),
    /** Time per window with the ONNX form, and with the model's own encoder. */
    seconds: Type.Number({ exclusiveMinimum: 0 }),
    ownSeconds: Type.Number({ exclusiveMinimum: 0 }),
    /** Root-mean-square difference of its numbers, relative to their size. */
    error: Type.Number({ minimum: 0 }),
  }),
]);
export type EncoderAnswer = Static<typeof encoderAnswerSchema>;

/** Answer of the comparison of a diarization model on the CPU and on a GPU. */
export const speakersAnswerSchema = Type.Object({
  /** Time of the GPU, and of the CPU. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  cpuSeconds: Type.Number({ exclusiveMinimum: 0 }),
  /**
   * Error of the GPU: the mean error of its probabilities, or 1 minus the lowest cosine similarity of its embeddings.
   */
  apart: Type.Number(),
});
export type SpeakersAnswer = Static<typeof speakersAnswerSchema>;

/** Answer of the device probe. */
export const deviceListSchema = Type.Object({
  devices: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      backend: Type.String(),
      kind: Type.Union([Type.Literal("cpu"), Type.Literal("gpu"), Type.Literal("igpu"), Type.Literal("accelerator")]),
      /** Address on the PCI bus; empty if unknown. */
      address: Type.String(),
      memoryFreeBytes: Type.Number(),
      memoryTotalBytes: Type.Number(),
    }),
  ),
  unusable: Type.Array(Type.Object({ library: Type.String(), reason: Type.String() })),
});
export type DeviceList = Static<typeof deviceListSchema>;

/**
 * Parses the output of a self-test.
 * @throws if the output does not have that form
 */
export function readAnswer<T extends TSchema>(schema: T, output: string): Static<T> {
  return Value.Parse(schema, JSON.parse(output));
}
