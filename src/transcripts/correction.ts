import { type Static, Type } from "@sinclair/typebox";

/** Maximum length of the text of a segment: some minutes of speech. */
export const MAX_TEXT_CHARACTERS = 20_000;
/** Maximum number of segments that one request changes or leaves out. */
const MAX_SEGMENTS = 1000;
/**
 * Bytes of a transcript, in its stored form with all words, beyond which no correction makes it longer. 18 hours of
 * speech take 8 million, so this limits the memory of everything that reads a transcript at once.
 */
export const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024;
/** Number of segments of a transcript beyond which none is split. 18 hours of speech have 20,000. */
export const MAX_TRANSCRIPT_SEGMENTS = 50_000;

const id = Type.Integer({ minimum: 0, maximum: 2 ** 21 });
const speaker = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const revision = Type.Integer({ minimum: 0, maximum: 1_000_000_000 });
const position = Type.Integer({ minimum: 0, maximum: 2 ** 31 });

/** A segment's place in the order of segments: by their starts, then by their ids. It stays the same in all revisions. */
export const placeSchema = Type.Object({ id, start_milliseconds: position });
type NextPlace = Static<typeof placeSchema>;

/** A text to find in a transcript, and the text that replaces it. */
export const replacementSchema = Type.Object(
  {
    find: Type.String({ minLength: 1, maxLength: 200 }),
    replacement: Type.String({ maxLength: 200 }),
    /** Whether upper and lower case and accents must match. */
    matches_case: Type.Boolean(),
    whole_words: Type.Boolean(),
  },
  { additionalProperties: false },
);
export type Replacement = Static<typeof replacementSchema>;

const action = <T extends string>(name: T) => Type.Literal(name);

/**
 * A change of a transcript by a person. Segments are given by their ids, and speakers by their numbers: both stay the
 * same when others change the transcript.
 */
export const correctionSchema = Type.Union([
  /** Replaces the text of a segment; an empty text removes the segment. */
  Type.Object({ action: action("text"), segment: id, text: Type.String({ maxLength: MAX_TEXT_CHARACTERS }) }),
  /** Splits a segment before a character of its text, counted in UTF-16 code units. */
  Type.Object({ action: action("split"), segment: id, character: position }),
  /** Joins a segment and the one that follows it. The speaker of the first remains. */
  Type.Object({ action: action("merge"), segment: id, next: id }),
  /** Assigns segments to a speaker; null: to a new one. */
  Type.Object({
    action: action("assign"),
    segments: Type.Array(id, { minItems: 1, maxItems: MAX_SEGMENTS }),
    speaker: Type.Union([speaker, Type.Null()]),
  }),
  /** Assigns all segments of a speaker to another one. */
  Type.Object({ action: action("merge_speakers"), from: speaker, into: speaker }),
  /** Replaces a text in the next hundred segments that contain it, behind a place; null: from the first. */
  Type.Composite([
    Type.Object({
      action: action("replace"),
      after: Type.Union([placeSchema, Type.Null()]),
      /** Ids of segments that stay as they are. */
      except: Type.Array(id, { maxItems: MAX_SEGMENTS }),
    }),
    replacementSchema,
  ]),
  /** Takes back a revision, if nobody has changed the same segments since. */
  Type.Object({ action: action("revert"), revision }),
  /** Restores a hundred segments of the transcript as it was after a revision; 0: as recognized. */
  Type.Object({ action: action("restore"), revision }),
]);
export type Correction = Static<typeof correctionSchema>;

/** Changes of several segments of the expected revision by an application, which are one revision. */
export interface Edit {
  readonly action: "edit";
  /** New texts of segments; an empty text removes the segment. */
  readonly texts: readonly { readonly segment: number; readonly text: string }[];
  /** Segments that are assigned to a speaker; null: to a new one. */
  readonly speakers: readonly { readonly segments: readonly number[]; readonly speaker: number | null }[];
}

/** Origin of a correction. */
export interface Correcting {
  /** The person, as in the audit log. */
  readonly author: string;
  /** Id of the page, and the number of its request: a request that the same person repeats changes nothing. */
  readonly editor: string;
  readonly sequence: number;
  /** The latest revision that the person has seen. */
  readonly seen: number;
  /** The revision that must be the latest; undefined: only the changed segments must be as they were seen. */
  readonly expected?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The outcome of a correction. */
export interface Corrected {
  /** Number of the revision that the correction made; null if it changed nothing. */
  readonly number: number | null;
  /** Number of the revision that this one continues and replaces, while a person types in a segment; null for none. */
  readonly replaces: number | null;
  /** `after` of the next request if `replace` or `restore` is not complete; null if it is. */
  readonly next: NextPlace | null;
}

/** The reason why a correction was not made. */
export type CorrectionRefusal =
  /** The latest revision is not the expected one. */
  | "not_latest"
  /** Somebody has changed the same segments meanwhile. */
  | "changed_meanwhile"
  | "no_such_speaker"
  | "no_such_revision"
  /** One part of a split would have no text or no time. */
  | "nothing_to_split"
  /** The segments do not follow each other, or would be too long together. */
  | "not_mergeable"
  | "text_too_long"
  | "transcript_too_long"
  | "too_many_speakers"
  | "too_many_segments";

/** A correction that was not made. */
export class CorrectionError extends Error {
  override readonly name = "CorrectionError";

  constructor(readonly reason: CorrectionRefusal) {
    super(reason);
  }
}
