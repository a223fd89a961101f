import { type Static, Type } from "@sinclair/typebox";
import { values } from "../../database/index.ts";
import { correctionSchema, placeSchema, replacementSchema } from "../../transcripts/index.ts";
import { type Routes, withDefault } from "./route.ts";
import { countSchema, markSchema, nullable, secondsSchema, timeSchema } from "./shared.ts";
import { segmentSchema } from "./transcript.ts";

const editorSchema = Type.String({ pattern: "^[A-Za-z0-9-]{8,64}$", description: "the id of a page" });

const correctionRequestSchema = Type.Object(
  {
    /** Id of the page, and the number of its request: a request that the same person repeats changes nothing. */
    editor: editorSchema,
    sequence: countSchema,
    /** The latest revision whose text the person has seen: a later one of the same segments is a conflict. */
    seen: countSchema,
    /** The latest revision that the page shows, after which the response has the changes. */
    shown: countSchema,
    correction: correctionSchema,
  },
  { additionalProperties: false },
);
export type CorrectionRequest = Static<typeof correctionRequestSchema>;
export type Correction = CorrectionRequest["correction"];

/** Segments that others replace. Several apply one after the other; the indexes count in the transcript before each. */
const spliceSchema = Type.Object({ index: countSchema, removed: countSchema, segments: Type.Array(segmentSchema) });
export type Splice = Static<typeof spliceSchema>;

export const changesSchema = Type.Object({
  /** Number of the latest revision. */
  revision: countSchema,
  /** Null if much has changed, so that the transcript must be loaded again. */
  splices: nullable(Type.Array(spliceSchema)),
  /** The people who changed something, except for the person who asks, on the page `editor`. */
  authors: Type.Array(Type.String()),
});
export type Changes = Static<typeof changesSchema>;

export const correctedSchema = Type.Composite([
  changesSchema,
  Type.Object({
    /** Number of the revision that the correction made; null if it changed nothing. */
    number: nullable(countSchema),
    /** Number of the revision that this one continues and replaces, while a person types in a segment. */
    replaces: nullable(countSchema),
    /** `after` of the next request, if `replace` or `restore` is not complete. */
    next: nullable(placeSchema),
  }),
]);
export type Corrected = Static<typeof correctedSchema>;

const revisionSchema = Type.Object({
  number: countSchema,
  author: Type.String(),
  at: timeSchema,
  action: Type.Union(values.correctionActions.map((action) => Type.Literal(action))),
  /** Number of segments that it changed. */
  segments: countSchema,
});
export type Revision = Static<typeof revisionSchema>;

export const revisionPageSchema = Type.Object({
  revisions: Type.Array(revisionSchema),
  /** Value of `before` for the next page; null on the last one. */
  next_before: nullable(countSchema),
});
export type RevisionPage = Static<typeof revisionPageSchema>;

const comparedSchema = Type.Object({ start: secondsSchema, speaker: Type.String(), text: Type.String() });
export type Compared = Static<typeof comparedSchema>;

export const comparisonSchema = Type.Object({
  differences: Type.Array(
    Type.Object({ index: countSchema, before: Type.Array(comparedSchema), after: Type.Array(comparedSchema) }),
  ),
  total: countSchema,
  next_after: nullable(countSchema),
});
export type Comparison = Static<typeof comparisonSchema>;

export const replacementPageSchema = Type.Object({
  replacements: Type.Array(
    Type.Object({
      /** Id and index of the segment. */
      id: countSchema,
      index: countSchema,
      start: secondsSchema,
      before: Type.String(),
      /** Ranges in `before` that are replaced. */
      marks: Type.Array(markSchema),
      after: Type.String(),
    }),
  ),
  /** Number of segments in the whole transcript. */
  total: countSchema,
  next_after: nullable(countSchema),
});
export type ReplacementPage = Static<typeof replacementPageSchema>;

/** A number in a query. */
const numberSchema = Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: "a whole number" });
const flagSchema = withDefault(Type.Boolean({ description: "true or false" }), false);
const { find, replacement } = replacementSchema.properties;

/** Corrections of a transcript, and its revisions. */
export const correctionRoutes = {
  /** 409 `changed_meanwhile` if somebody has changed the same segments. */
  correct: {
    at: "POST /recordings/:id/corrections",
    access: "member",
    body: correctionRequestSchema,
    answer: correctedSchema,
  },
  /** The changes after the revision `seen`. */
  changes: {
    at: "GET /recordings/:id/changes",
    access: "reader",
    query: Type.Object({ seen: numberSchema, editor: editorSchema }),
    answer: changesSchema,
  },
  /** Up to 100 revisions, newest first. */
  revisions: {
    at: "GET /recordings/:id/revisions",
    access: "reader",
    query: Type.Object({ before: Type.Optional(numberSchema) }),
    answer: revisionPageSchema,
  },
  /**
   * The differences between the transcript after a revision, or as recognized (0), and the latest: the first 100 behind
   * the first `after` ones. A page holds 2 MiB.
   */
  comparison: {
    at: "GET /recordings/:id/comparison",
    access: "reader",
    query: Type.Object({ revision: numberSchema, after: withDefault(numberSchema, 0) }),
    answer: comparisonSchema,
  },
  /**
   * The first 100 segments, from `after` on, that the correction `replace` would change. A page holds 2 MiB. A
   * replacement that makes a segment too long is refused like the correction: 422.
   */
  replacements: {
    at: "GET /recordings/:id/replacements",
    access: "reader",
    query: Type.Object({
      find,
      replacement,
      matches_case: flagSchema,
      whole_words: flagSchema,
      after: withDefault(numberSchema, 0),
    }),
    answer: replacementPageSchema,
  },
} as const satisfies Routes;
