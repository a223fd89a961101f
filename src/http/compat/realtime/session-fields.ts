import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { MAX_PROMPT_CHARACTERS } from "../../../text/index.ts";

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));
const literals = <const Values extends readonly string[]>(values: Values) =>
  Type.Union(values.map((value) => Type.Literal<Values[number]>(value)));

/** Names and texts are longer in no client. */
const name = Type.String({ maxLength: 200 });
const names = Type.Array(name, { maxItems: 500 });

const formatFields = Type.Object({
  type: Type.Optional(literals(["audio/pcm", "audio/pcmu", "audio/pcma"])),
  rate: orNull(Type.Integer({ minimum: 8000, maximum: 48_000 })),
});

/** Other fields of `transcription`, such as `delay`, have no effect. */
const transcriptionFields = Type.Object({
  model: Type.Optional(name),
  language: orNull(name),
  languages: orNull(names),
  prompt: orNull(Type.String({ maxLength: 4 * MAX_PROMPT_CHARACTERS })),
  keywords: orNull(names),
});

/** `create_response` and the like have no effect, since there are no responses. */
const turnFields = Type.Object({
  type: Type.Optional(literals(["server_vad", "semantic_vad"])),
  threshold: orNull(Type.Number({ minimum: 0, maximum: 1 })),
  prefix_padding_ms: orNull(Type.Number({ minimum: 0, maximum: 3_600_000 })),
  silence_duration_ms: orNull(Type.Number({ minimum: 0, maximum: 3_600_000 })),
  eagerness: orNull(literals(["low", "medium", "high", "auto"])),
});

const noiseReduction = Type.Object({ type: Type.Optional(literals(["near_field", "far_field"])) });

/** The fields of a transcription session: the current ones, and the older ones without `audio`. */
export const sessionFields = Type.Object({
  type: Type.Optional(literals(["transcription", "realtime"])),
  audio: Type.Optional(
    Type.Object({
      input: Type.Optional(
        Type.Object({
          format: Type.Optional(formatFields),
          transcription: orNull(transcriptionFields),
          turn_detection: orNull(turnFields),
          noise_reduction: orNull(noiseReduction),
        }),
      ),
    }),
  ),
  include: orNull(names),
  input_audio_format: Type.Optional(literals(["pcm16", "g711_ulaw", "g711_alaw"])),
  input_audio_transcription: orNull(transcriptionFields),
  turn_detection: orNull(turnFields),
  input_audio_noise_reduction: orNull(noiseReduction),
});

export type SessionFields = Static<typeof sessionFields>;
export type FormatFields = Static<typeof formatFields>;
export type TranscriptionFields = Static<typeof transcriptionFields>;
export type TurnFields = Static<typeof turnFields>;
