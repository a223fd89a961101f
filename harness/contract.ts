import { type Static, Type } from "@sinclair/typebox";

/**
 * Schemas of the public API's bodies. They follow the text of the contract and not the server's schemas, so that tests
 * detect a field that the server adds, loses or renames.
 */
const strict = { additionalProperties: false };
const nullable = <T extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));

const uuidV7 = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
const timestamp = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}\\+00:00$" });

export const transcriptionContract = Type.Object(
  {
    id: Type.String({ pattern: uuidV7 }),
    status: oneOf("queued", "processing", "completed", "failed"),
    title: Type.Null(),
    language: nullable(Type.String({ pattern: "^[a-z]{2,3}$" })),
    duration_seconds: nullable(Type.Integer({ minimum: 0 })),
    created_at: timestamp,
    updated_at: timestamp,
    source: Type.Object(
      { type: oneOf("file", "url"), name: nullable(Type.String()), url: nullable(Type.String()) },
      strict,
    ),
    workspace: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }, strict), Type.Null()]),
    progress: Type.Object(
      {
        step: Type.Union([oneOf("fetch", "decode", "detect", "transcribe", "diarize", "finalize"), Type.Null()]),
        percent: nullable(Type.Integer({ minimum: 0, maximum: 100 })),
        indeterminate: Type.Boolean(),
      },
      strict,
    ),
    failure_reason: Type.Union([oneOf("no_speech", "too_short", "quota_exceeded", "internal"), Type.Null()]),
  },
  strict,
);
export type Transcription = Static<typeof transcriptionContract>;

const { progress, ...listed } = transcriptionContract.properties;
const step = Type.Pick(progress, ["step"], strict);
export const listContract = Type.Object(
  {
    data: Type.Array(Type.Object({ ...listed, progress: step }, strict)),
    has_more: Type.Boolean(),
    next_cursor: Type.String(),
  },
  strict,
);
export type ListPage = Static<typeof listContract>;

const word = Type.Object(
  {
    text: Type.String({ pattern: "^\\S(.*\\S)?$" }),
    start: Type.Number({ minimum: 0 }),
    end: Type.Number({ minimum: 0 }),
    probability: Type.Number({ minimum: 0, maximum: 1 }),
  },
  strict,
);

export const segmentPageContract = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          index: Type.Integer({ minimum: 0 }),
          start: Type.Number({ minimum: 0 }),
          end: Type.Number({ exclusiveMinimum: 0 }),
          speaker: Type.String({ pattern: "^[A-Z]{1,2}$" }),
          text: Type.String({ pattern: "^\\S(.*\\S)?$" }),
          words: Type.Optional(Type.Array(word)),
        },
        strict,
      ),
    ),
    has_more: Type.Boolean(),
    next_cursor: Type.String(),
  },
  strict,
);
export type SegmentPage = Static<typeof segmentPageContract>;
export type Segment = SegmentPage["data"][number];

export const errorContract = Type.Object(
  {
    error: Type.String({ pattern: "^[a-z]+(_[a-z]+)*$" }),
    message: Type.String({ minLength: 1 }),
    errors: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }))),
    required: Type.Optional(Type.String({ minLength: 1 })),
    docs: Type.Optional(Type.String()),
  },
  strict,
);
export type ErrorEnvelope = Static<typeof errorContract>;
