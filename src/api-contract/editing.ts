import { type Static, Type } from "@sinclair/typebox";
import { values } from "../database/index.ts";
import { tags } from "../recordings/index.ts";
import { listedTranscriptionSchema, pageOf, segmentSchema, transcriptionSchema } from "./resources.ts";

/** Maximum number of segments that one request corrects, so that others wait for a tenth of a second. */
export const MAX_CORRECTIONS = 100;
/** Maximum length of the name of a speaker. */
const MAX_NAME_CHARACTERS = 100;

const revision = Type.Integer({
  minimum: 0,
  description: 'Number of the latest revision of the transcript; 0 as it was recognized. Send it as `If-Match: "N"`.',
});
const letter = "^[A-Z]{1,2}$";
const speaker = Type.String({ pattern: letter, description: "the letter of a speaker, such as A" });
const segmentIndex = Type.Integer({ minimum: 0, description: "the index of a segment in the revision of `If-Match`" });

export const speakerSchema = Type.Object(
  {
    speaker: Type.String({ pattern: "^[A-Z]+$", description: "The letter in segments and exports." }),
    name: Type.Union([Type.String(), Type.Null()], { description: "The name that somebody gave; null for none." }),
  },
  { description: "A speaker of a transcript." },
);
export type SpeakerResource = Static<typeof speakerSchema>;

export const speakersSchema = Type.Object(
  { revision, data: Type.Array(speakerSchema) },
  { description: "The speakers of a transcript, in order of first appearance." },
);
export type Speakers = Static<typeof speakersSchema>;

/** Body of a request that names speakers. */
export const speakerNamesSchema = Type.Object(
  {
    names: Type.Record(
      Type.String({ pattern: letter }),
      Type.Union([Type.String({ maxLength: MAX_NAME_CHARACTERS }), Type.Null()]),
      {
        additionalProperties: false,
        description: `an object that has the letters of speakers with their names, of at most ${MAX_NAME_CHARACTERS} characters, or null`,
        documented: {
          description:
            "Names by the letters of speakers; null and an empty name remove one. Speakers that are not mentioned keep theirs.",
          example: { A: "Ada Lovelace", B: null },
        },
      },
    ),
  },
  { description: "Names of speakers." },
);

/** Body of a request that merges two speakers. */
export const speakerMergeSchema = Type.Object(
  {
    speaker: Type.String({
      ...speaker,
      documented: { description: "The speaker who disappears.", example: "C" },
    }),
    into: Type.String({ ...speaker, documented: { description: "The speaker who gets the segments.", example: "A" } }),
  },
  { description: "Two speakers who are the same person." },
);

export const segmentCorrectionSchema = Type.Object(
  {
    index: Type.Integer({
      ...segmentIndex,
      documented: { description: "The segment's `index`, in the revision of `If-Match`." },
    }),
    text: Type.Optional(
      Type.String({
        maxLength: 20_000,
        documented: {
          description: "The new text. An empty one removes the segment. Words keep their times as far as possible.",
        },
      }),
    ),
    speaker: Type.Optional(
      Type.String({
        pattern: "^([A-Z]{1,2}|new)$",
        documented: {
          description:
            "The speaker, who is certain from then on. `new`: one more speaker, the same in the whole request.",
        },
      }),
    ),
  },
  { description: "A new text or another speaker of a segment, or both." },
);

/** Body of a request that corrects segments. */
export const correctionsSchema = Type.Object(
  {
    corrections: Type.Array(segmentCorrectionSchema, {
      minItems: 1,
      maxItems: MAX_CORRECTIONS,
      description: `a list of 1 to ${MAX_CORRECTIONS} objects, each with the index of another segment and its text or speaker`,
      documented: { description: `Corrections of 1 to ${MAX_CORRECTIONS} segments, each once. All are made, or none.` },
    }),
  },
  { description: "Corrections of segments, which become one revision." },
);
export type Corrections = Static<typeof correctionsSchema>;

/** The outcome of a request that changes a transcript. */
export const correctedSchema = Type.Object({ revision }, { description: "The latest revision after a change." });

export const spliceSchema = Type.Object({
  index: Type.Integer({ minimum: 0, description: "Where the segments begin, after the splices before this one." }),
  removed: Type.Integer({ minimum: 0, description: "Number of segments that are gone." }),
  segments: Type.Array(segmentSchema, { description: "The segments in their place." }),
});

/** The changes of others since a revision. */
export const laterChangesSchema = Type.Object(
  {
    revision,
    authors: Type.Array(Type.String(), { description: "Names of those who changed the transcript." }),
    splices: Type.Union([Type.Array(spliceSchema), Type.Null()], {
      description: "The changes, to apply one after the other. Null if they are many: read the transcript again.",
    }),
  },
  { description: "What others have changed since the revision of `If-Match`." },
);
export type LaterChangesResource = Static<typeof laterChangesSchema>;

export const revisionSchema = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      description: "Numbers increase, and some are missing: typing continues a revision.",
    }),
    author: Type.String({ description: "A person, a key (`the key NAME`), or `the operator`." }),
    at: Type.String({ format: "date-time", description: "Time of the revision." }),
    action: Type.Union(
      values.correctionActions.map((action) => Type.Literal(action)),
      { description: "What was done; `process`: the recording was processed again." },
    ),
    segments: Type.Integer({ minimum: 0, description: "Number of segments that it changed." }),
  },
  { description: "A revision of a transcript." },
);

export const revisionPageSchema = Type.Composite([pageOf(revisionSchema, ""), Type.Object({ revision })], {
  description: "The stored revisions of a transcript, newest first, and the number of the latest.",
});

export const revisionSegmentsSchema = Type.Composite(
  [
    pageOf(segmentSchema, ""),
    Type.Object({ revision: Type.Integer({ minimum: 0, description: "Number of this revision." }) }),
  ],
  { description: "Segments of the transcript as it was after a revision." },
);

export const comparedSchema = Type.Object(
  {
    start: Type.Number({ minimum: 0, description: "Seconds from the beginning." }),
    speaker: Type.String({ description: "Letter of the speaker, in the order of this revision's speakers." }),
    text: Type.String(),
  },
  { description: "A segment in a comparison." },
);

export const differenceSchema = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: "Index in the later transcript." }),
    before: Type.Array(comparedSchema, { description: "The segments after the revision." }),
    after: Type.Array(comparedSchema, { description: "The segments in the later transcript." }),
  },
  { description: "A part of a transcript that differs." },
);

export const comparisonSchema = Type.Object(
  {
    data: Type.Array(differenceSchema),
    total: Type.Integer({ minimum: 0, description: "Number of differences in the whole transcript." }),
    has_more: Type.Boolean({ description: "Whether there is a next page." }),
    next_cursor: Type.String({ description: "Send it as `cursor` for the next page. Empty on the last." }),
    revision,
  },
  { description: "Differences between the transcript after a revision and a later one." },
);

/** The state of a recording's processing again. */
export const processingSchema = Type.Object(
  {
    processing: Type.Union(
      [
        Type.Object(
          {
            status: Type.Union([Type.Literal("queued"), Type.Literal("processing"), Type.Literal("failed")]),
            progress: transcriptionSchema.properties.progress,
            failure_reason: transcriptionSchema.properties.failure_reason,
            created_at: Type.String({ format: "date-time" }),
          },
          { description: "Its status. It completes as a revision of the transcript." },
        ),
        Type.Null(),
      ],
      { description: "Null if the recording is not processed again, or has been." },
    ),
  },
  { description: "Whether a recording is processed again." },
);
export type Processing = Static<typeof processingSchema>;

/** Body of a request that processes a recording again. */
export const processAgainSchema = Type.Object(
  {
    model: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: "the id of an installed model",
        documented: { description: "Id of an installed model, as in `GET /v1/models`. By default the model in use." },
      }),
    ),
    language: Type.Optional(
      Type.Union([Type.String({ maxLength: 16 }), Type.Null()], {
        description: "a language code of GET /languages, or null",
        documented: {
          description:
            "Code of a language of the model; null detects it. By default the language that was sent with the recording.",
          example: "de",
        },
      }),
    ),
    prompt: Type.Optional(
      Type.String({
        maxLength: 8000,
        description: "a text of at most 8000 characters",
        documented: {
          description: "Names and terms, as in a create. An empty prompt is none. By default as in the create.",
        },
      }),
    ),
    task: Type.Optional(
      Type.Union([Type.Literal("transcribe"), Type.Literal("translate")], {
        description: "transcribe or translate",
        documented: {
          description: "`translate` for an English translation as well, `transcribe` for none. By default as before.",
        },
      }),
    ),
    speakers: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: "a whole number from 1 to 50" })),
    min_speakers: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: "a whole number from 1 to 50" })),
    max_speakers: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: "a whole number from 1 to 50" })),
  },
  { description: "Choices for processing a recording again." },
);
export type ProcessAgain = Static<typeof processAgainSchema>;

export const voiceSchema = Type.Object(
  {
    id: Type.String({ format: "uuid" }),
    name: Type.String({ description: "The name that is proposed for speakers with this voice." }),
    created_at: Type.String({ format: "date-time" }),
    recordings: Type.Integer({ minimum: 0, description: "Number of recordings that it is compared by." }),
    seconds: Type.Number({ minimum: 0, description: "Seconds of clean speech in them." }),
  },
  { description: "A voice that the account remembers." },
);

export const voicesSchema = Type.Object(
  {
    enabled: Type.Boolean({ description: "Whether the account remembers voices; the operator decides this." }),
    data: Type.Array(voiceSchema, { description: "Sorted by name." }),
  },
  { description: "The voices that the account remembers." },
);
export type VoiceList = Static<typeof voicesSchema>;

/** Body of a request that renames a voice. */
export const voiceNameSchema = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: MAX_NAME_CHARACTERS,
      description: `a name of 1 to ${MAX_NAME_CHARACTERS} characters`,
      documented: { description: "A name that no other voice of the account has.", example: "Ada Lovelace" },
    }),
  },
  { description: "A name of a voice." },
);

/** The tags of a recording. */
export const tagsSchema = Type.Object(
  {
    tags: Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: tags.MAX_TAGS,
      description: `a list of at most ${tags.MAX_TAGS} texts`,
      documented: {
        description:
          `At most ${tags.MAX_TAGS} tags of 1 to ${tags.MAX_TAG_CHARACTERS} characters, without commas. ` +
          "Upper and lower case differ. Answers have each once, sorted.",
        example: ["board", "2026"],
      },
    }),
  },
  { description: "The tags of a recording." },
);

/**
 * Body of a request that replaces the tags of a recording. It is not the schema of the answer: Elysia forbids unknown
 * fields in the schemas of answers, and requests may have some.
 */
export const newTagsSchema = Type.Object({ ...tagsSchema.properties }, { description: "The tags of a recording." });

export const markSchema = Type.Object(
  { start: Type.Integer({ minimum: 0 }), end: Type.Integer({ minimum: 0 }) },
  { description: "A part of a text, in UTF-16 code units." },
);

export const hitSchema = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: "Index of the segment." }),
    start: Type.Number({ minimum: 0, description: "Seconds from the beginning." }),
    text: Type.String({ description: "The segment's text around the first match; `…` marks omitted text." }),
    marks: Type.Array(markSchema, { description: "The matches in `text`." }),
  },
  { description: "A segment that has the searched words." },
);

export const foundSchema = Type.Object(
  {
    transcription: listedTranscriptionSchema,
    tags: Type.Array(Type.String()),
    hits: Type.Array(hitSchema, {
      description: "The first three segments; none if only the recording's name matches.",
    }),
    has_more_hits: Type.Boolean({ description: "Whether more segments match." }),
  },
  { description: "A recording whose transcript or name has the searched words." },
);

export const foundPageSchema = Type.Composite(
  [
    pageOf(foundSchema, ""),
    Type.Object({
      is_partial: Type.Boolean({
        description: "Whether recordings are still being added to the index, so that a later search may find more.",
      }),
    }),
  ],
  { description: "Recordings that match, newest first." },
);
export type FoundPage = Static<typeof foundPageSchema>;
