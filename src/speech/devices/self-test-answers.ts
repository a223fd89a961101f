import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** What a self-test prints that computed something: how long it took, models loaded and all. */
export const timingSchema = Type.Object({ seconds: Type.Number({ minimum: 0 }) });
export type Timing = Static<typeof timingSchema>;

/** What a self-test prints that transcribed a sample: how long it took, models loaded and all, and the words in lower case. */
export const hearingSchema = Type.Object({ seconds: Type.Number({ minimum: 0 }), words: Type.Array(Type.String()) });
export type Hearing = Static<typeof hearingSchema>;

/** What the comparison of a model's encoders prints: why there is none, or how it went. */
export const encoderAnswerSchema = Type.Union([
  Type.Object({ unsuitable: Type.String() }),
  Type.Object({
    /** The ONNX form that was made, by its name among the others. */
    name: Type.String({ minLength: 1 }),
    /** What a window takes with it, and with whisper.cpp's own. */
    seconds: Type.Number({ exclusiveMinimum: 0 }),
    ownSeconds: Type.Number({ exclusiveMinimum: 0 }),
    /** How far its numbers are off, as a share of their size. */
    error: Type.Number({ minimum: 0 }),
  }),
]);
export type EncoderAnswer = Static<typeof encoderAnswerSchema>;

/** What the comparison of a speaker model on the CPU and on a GPU prints. */
export const speakersAnswerSchema = Type.Object({
  /** What the GPU took, and the CPU. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  cpuSeconds: Type.Number({ exclusiveMinimum: 0 }),
  /** How far off the GPU is: the mean error of its probabilities, or what its least similar voice lacks of likeness 1. */
  apart: Type.Number(),
});
export type SpeakersAnswer = Static<typeof speakersAnswerSchema>;

/** What the look for devices prints. */
export const deviceListSchema = Type.Object({
  devices: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      backend: Type.String(),
      kind: Type.Union([Type.Literal("cpu"), Type.Literal("gpu"), Type.Literal("igpu"), Type.Literal("accelerator")]),
      /** On the PCI bus; empty: that is not known. */
      address: Type.String(),
      memoryFreeBytes: Type.Number(),
      memoryTotalBytes: Type.Number(),
    }),
  ),
  unusable: Type.Array(Type.Object({ library: Type.String(), reason: Type.String() })),
});
export type DeviceList = Static<typeof deviceListSchema>;

/** What a self-test printed. @throws where it isn't of that form */
export function readAnswer<T extends TSchema>(schema: T, output: string): Static<T> {
  return Value.Parse(schema, JSON.parse(output));
}
