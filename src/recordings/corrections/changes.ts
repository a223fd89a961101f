import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type TranscriptFacts, transcriptFactsSchema } from "../transcript-facts.ts";

/** A segment of a corrected transcript, as it is stored. */
export interface CorrectedSegment {
  /** Stays the same in all revisions. A recognized segment has its index as id. */
  readonly id: number;
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  /** Stays the same in all revisions, in contrast to the letter that people see. */
  readonly speaker: number;
  readonly text: string;
  /** JSON array of StoredWord. */
  readonly words: string;
}

/** A part of a revision. Each kind holds what was there before, so that it can be reverted. */
export type Change =
  /** Segments that others replace, from an index on. The changes of a revision apply one after the other. */
  | {
      readonly kind: "segments";
      readonly index: number;
      readonly removed: readonly CorrectedSegment[];
      readonly inserted: readonly CorrectedSegment[];
    }
  /** Segments, by id, whose speaker changes; `from` holds the speaker of each. */
  | {
      readonly kind: "speakers";
      readonly ids: readonly number[];
      readonly from: readonly number[];
      readonly to: number;
    }
  /** The whole transcript, which another one replaces. It is the only change of its revision. */
  | {
      readonly kind: "whole";
      /** Null: the transcript was as recognized, which stays stored. */
      readonly removed: readonly CorrectedSegment[] | null;
      readonly facts: TranscriptFacts;
    };

/** A part of a transcript in two states. */
export interface Difference {
  /** Its position in the second state, and in the first. */
  readonly index: number;
  readonly place: number;
  readonly before: readonly CorrectedSegment[];
  readonly after: readonly CorrectedSegment[];
}

const count = Type.Integer({ minimum: 0 });
const wordParts = [Type.String(), Type.Integer(), Type.Integer(), Type.Number()] as const;
const storedSegment = Type.Object({
  id: count,
  startMilliseconds: count,
  endMilliseconds: count,
  speaker: count,
  text: Type.String({ minLength: 1 }),
  words: Type.Array(Type.Union([Type.Tuple([...wordParts]), Type.Tuple([...wordParts, Type.Literal(false)])])),
});
const storedChange = Type.Union([
  Type.Object({
    kind: Type.Literal("segments"),
    index: count,
    removed: Type.Array(storedSegment),
    inserted: Type.Array(storedSegment),
  }),
  Type.Object({ kind: Type.Literal("speakers"), ids: Type.Array(count), from: Type.Array(count), to: count }),
  Type.Object({
    kind: Type.Literal("whole"),
    removed: Type.Union([Type.Array(storedSegment), Type.Null()]),
    facts: transcriptFactsSchema,
  }),
]);
type StoredChange = Static<typeof storedChange>;
const storedChanges = TypeCompiler.Compile(Type.Array(storedChange));

/** Returns changes in the stored form, in which the words are not JSON within JSON. */
export function packChanges(changes: readonly Change[]): string {
  return JSON.stringify(changes.map((change) => withSegments(change, packed)));
}

/** Parses stored changes. Returns null if a backup from elsewhere brought others than this program writes. */
export function unpackChanges(stored: string): Change[] | null {
  const parsed: unknown = JSON.parse(stored);
  if (!storedChanges.Check(parsed) || !parsed.every(isSound)) return null;
  return parsed.map((change) => withSegments(change, unpacked));
}

const packed = ({ words, ...segment }: CorrectedSegment) => ({ ...segment, words: JSON.parse(words) as unknown });

const unpacked = ({ words, ...segment }: Static<typeof storedSegment>): CorrectedSegment => {
  return { ...segment, words: JSON.stringify(words) };
};

/** A change whose segments have the type `S`. */
type ChangeOf<S> =
  | Extract<Change, { kind: "speakers" }>
  | (Pick<SegmentsChange, "kind" | "index"> & { readonly removed: readonly S[]; readonly inserted: readonly S[] })
  | (Pick<WholeChange, "kind" | "facts"> & { readonly removed: readonly S[] | null });
type SegmentsChange = Extract<Change, { kind: "segments" }>;
type WholeChange = Extract<Change, { kind: "whole" }>;

/** Returns a change with converted segments. */
function withSegments<S, T>(change: ChangeOf<S>, convert: (segment: S) => T): ChangeOf<T> {
  if (change.kind === "speakers") return change;
  if (change.kind === "whole") return { ...change, removed: change.removed?.map(convert) ?? null };
  return { ...change, removed: change.removed.map(convert), inserted: change.inserted.map(convert) };
}

/** Returns whether a stored change has only segments as a transcript may have them. */
function isSound(change: StoredChange): boolean {
  if (change.kind === "speakers") return change.ids.length === change.from.length;
  const segments = change.kind === "whole" ? (change.removed ?? []) : [...change.removed, ...change.inserted];
  return segments.every(
    ({ startMilliseconds, endMilliseconds, text }) => startMilliseconds < endMilliseconds && text.trim() === text,
  );
}

/**
 * Returns the differences between two states of a transcript, in order, as people read them. If the whole transcript was
 * replaced between them, no segment is in both.
 */
export function compareStates(before: readonly CorrectedSegment[], after: readonly CorrectedSegment[]): Difference[] {
  const ids = new Set(before.map(({ id }) => id));
  const hasCommon = after.some(({ id }) => ids.has(id));
  return hasCommon ? joinDifferences(differencesOf(before, after)) : differencesByTime(before, after);
}

/** Returns the differences between two transcripts of the same audio. They are divided where nobody speaks in either. */
function differencesByTime(before: readonly CorrectedSegment[], after: readonly CorrectedSegment[]): Difference[] {
  const differences: Difference[] = [];
  let [place, index] = [0, 0];
  while (place < before.length || index < after.length) {
    const from = { place, index };
    let end = Number.NEGATIVE_INFINITY;
    for (;;) {
      const [one, other] = [before[place], after[index]];
      const isOneNext = other === undefined || (one !== undefined && one.startMilliseconds <= other.startMilliseconds);
      const next = isOneNext ? one : other;
      if (next === undefined || (end >= 0 && next.startMilliseconds >= end)) break;
      end = Math.max(end, next.endMilliseconds);
      if (isOneNext) place += 1;
      else index += 1;
    }
    const some = { before: before.slice(from.place, place), after: after.slice(from.index, index) };
    const isSame =
      some.before.length === some.after.length &&
      some.before.every((segment, at) => {
        const counterpart = some.after[at];
        return counterpart !== undefined && hasSameContent(segment, counterpart);
      });
    if (!isSame) differences.push({ ...from, ...some });
  }
  return differences;
}

/**
 * Returns the differences between two states of a transcript, as small as possible. Segments are in the order of their
 * start in all states, and ids never change it, so the common ids divide the others.
 */
export function differencesOf(before: readonly CorrectedSegment[], after: readonly CorrectedSegment[]): Difference[] {
  const places = new Map(before.map(({ id }, place) => [id, place]));
  const differences: Difference[] = [];
  let reached = 0;
  let index = 0;
  const add = (place: number, next: number) => {
    if (place > reached || next > index) {
      differences.push({
        index,
        place: reached,
        before: before.slice(reached, place),
        after: after.slice(index, next),
      });
    }
    reached = place;
    index = next;
  };
  after.forEach((segment, next) => {
    const place = places.get(segment.id);
    const other = place === undefined ? undefined : before[place];
    if (place === undefined || other === undefined) return;
    add(place, next);
    if (hasSameContent(other, segment)) {
      reached = place + 1;
      index = next + 1;
    } else add(place + 1, next + 1);
  });
  add(before.length, after.length);
  return differences;
}

/** Joins differences that follow each other. */
function joinDifferences(differences: readonly Difference[]): Difference[] {
  const joined: (Difference & { readonly before: CorrectedSegment[]; readonly after: CorrectedSegment[] })[] = [];
  for (const { index, place, before, after } of differences) {
    const last = joined.at(-1);
    if (last === undefined || index !== last.index + last.after.length || place !== last.place + last.before.length) {
      joined.push({ index, place, before: [...before], after: [...after] });
      continue;
    }
    last.before.push(...before);
    last.after.push(...after);
  }
  return joined;
}

function hasSameContent(first: CorrectedSegment, second: CorrectedSegment): boolean {
  return hasSameText(first, second) && first.speaker === second.speaker;
}

/** Returns whether text, words and times of two segments are the same. */
export function hasSameText(first: CorrectedSegment, second: CorrectedSegment): boolean {
  return (
    first.text === second.text &&
    first.words === second.words &&
    first.startMilliseconds === second.startMilliseconds &&
    first.endMilliseconds === second.endMilliseconds
  );
}
