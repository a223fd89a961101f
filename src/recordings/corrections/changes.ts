import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

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

/** A part of a revision. Both kinds hold what was there before, so that they can be reverted. */
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
]);
type StoredChange = Static<typeof storedChange>;
const storedChanges = TypeCompiler.Compile(Type.Array(storedChange));

/** Returns changes in the stored form, in which the words are not JSON within JSON. */
export function packChanges(changes: readonly Change[]): string {
  const packed = (segments: readonly CorrectedSegment[]) =>
    segments.map(({ words, ...segment }) => ({ ...segment, words: JSON.parse(words) as unknown }));
  return JSON.stringify(
    changes.map((change) =>
      change.kind === "speakers"
        ? change
        : { ...change, removed: packed(change.removed), inserted: packed(change.inserted) },
    ),
  );
}

/** Parses stored changes. Returns null if a backup from elsewhere brought others than this program writes. */
export function unpackChanges(stored: string): Change[] | null {
  const parsed: unknown = JSON.parse(stored);
  if (!storedChanges.Check(parsed) || !parsed.every(isSound)) return null;
  const unpacked = (segments: readonly Static<typeof storedSegment>[]): CorrectedSegment[] =>
    segments.map(({ words, ...segment }) => ({ ...segment, words: JSON.stringify(words) }));
  return parsed.map((change) =>
    change.kind === "speakers"
      ? change
      : { ...change, removed: unpacked(change.removed), inserted: unpacked(change.inserted) },
  );
}

/** Returns whether a stored change has only segments as a transcript may have them. */
function isSound(change: StoredChange): boolean {
  if (change.kind === "speakers") return change.ids.length === change.from.length;
  return [...change.removed, ...change.inserted].every(
    ({ startMilliseconds, endMilliseconds, text }) => startMilliseconds < endMilliseconds && text.trim() === text,
  );
}

/** Number of segments, before or after, and of their characters, beyond which a difference is shown in parts. */
const MAX_DIFFERENCE_SEGMENTS = 50;
const MAX_DIFFERENCE_CHARACTERS = 64 * 1024;

/**
 * Returns the differences between two states of a transcript, in order and as small as possible. Segments are in the
 * order of their start in all states, and ids never change it, so the common ids divide the others.
 */
export function differencesOf(before: readonly CorrectedSegment[], after: readonly CorrectedSegment[]): Difference[] {
  const places = new Map(before.map(({ id }, place) => [id, place]));
  const differences: Difference[] = [];
  let reached = 0;
  let index = 0;
  const add = (place: number, next: number) => {
    while (place > reached || next > index) {
      const part = {
        index,
        place: reached,
        before: firstOf(before, reached, place),
        after: firstOf(after, index, next),
      };
      differences.push(part);
      reached += part.before.length;
      index += part.after.length;
    }
  };
  after.forEach((segment, next) => {
    const place = places.get(segment.id);
    const other = place === undefined ? undefined : before[place];
    if (place === undefined || other === undefined) return;
    add(place, next);
    if (hasSameText(other, segment) && other.speaker === segment.speaker) {
      reached = place + 1;
      index = next + 1;
    } else add(place + 1, next + 1);
  });
  add(before.length, after.length);
  return differences;
}

/** Returns the segments between two positions that one difference may have: at least one if there are any. */
function firstOf(segments: readonly CorrectedSegment[], from: number, to: number): CorrectedSegment[] {
  const first: CorrectedSegment[] = [];
  let characters = 0;
  for (let place = from; place < to && first.length < MAX_DIFFERENCE_SEGMENTS; place++) {
    const segment = segments[place];
    if (segment === undefined) break;
    characters += segment.text.length;
    if (first.length > 0 && characters > MAX_DIFFERENCE_CHARACTERS) break;
    first.push(segment);
  }
  return first;
}

/** Returns whether the segments of two differences are few enough for one. */
function fitTogether(first: readonly CorrectedSegment[], second: readonly CorrectedSegment[]): boolean {
  const all = [...first, ...second];
  const characters = all.reduce((sum, { text }) => sum + text.length, 0);
  return all.length <= MAX_DIFFERENCE_SEGMENTS && characters <= MAX_DIFFERENCE_CHARACTERS;
}

/** Joins differences that follow each other, as people read them, up to the limits of one. */
export function joinDifferences(differences: readonly Difference[]): Difference[] {
  const joined: (Difference & { readonly before: CorrectedSegment[]; readonly after: CorrectedSegment[] })[] = [];
  for (const { index, place, before, after } of differences) {
    const last = joined.at(-1);
    const follows =
      last !== undefined && index === last.index + last.after.length && place === last.place + last.before.length;
    if (!follows || !fitTogether(last.before, before) || !fitTogether(last.after, after)) {
      joined.push({ index, place, before: [...before], after: [...after] });
      continue;
    }
    last.before.push(...before);
    last.after.push(...after);
  }
  return joined;
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
