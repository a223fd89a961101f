import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { type TranscriptFacts, transcriptFactsSchema } from "../segments/index.ts";

const count = Type.Integer({ minimum: 0 });
const wordParts = [Type.String(), Type.Integer(), Type.Integer(), Type.Number()] as const;
const storedSegment = Type.Object({
  /** Stays the same in all revisions. A recognized segment has its index as id. */
  id: count,
  startMilliseconds: count,
  endMilliseconds: count,
  /** Stays the same in all revisions, in contrast to the letter that people see. */
  speaker: count,
  text: Type.String({ minLength: 1 }),
  words: Type.Array(Type.Union([Type.Tuple([...wordParts]), Type.Tuple([...wordParts, Type.Literal(false)])])),
  /** Absent in revisions of an earlier version, which knew no uncertain speakers. */
  isSpeakerUncertain: Type.Optional(Type.Boolean()),
});
type StoredSegment = Static<typeof storedSegment>;

/** A segment of a corrected transcript; the words are a JSON array of StoredWord. */
export type CorrectedSegment = Readonly<
  Omit<StoredSegment, "words" | "isSpeakerUncertain"> & { words: string; isSpeakerUncertain: boolean }
>;

/** A part of a revision. Each kind holds what was there before, so that it can be reverted. */
type ChangeOf<S> =
  /** Segments that others replace, from an index on. The changes of a revision apply one after the other. */
  | {
      readonly kind: "segments";
      readonly index: number;
      readonly removed: readonly S[];
      readonly inserted: readonly S[];
    }
  /** Segments, by id, whose speaker changes; `from` holds the speaker of each. */
  | {
      readonly kind: "speakers";
      readonly ids: readonly number[];
      readonly from: readonly number[];
      readonly to: number;
      /** Ids of those whose speaker was uncertain; absent if there were none. */
      readonly uncertain?: readonly number[];
    }
  /** The whole transcript, which another one replaces. It is the only change of its revision. */
  | {
      readonly kind: "whole";
      /** Null: the transcript was as recognized, which stays stored. */
      readonly removed: readonly S[] | null;
      readonly facts: TranscriptFacts;
    };
export type Change = ChangeOf<CorrectedSegment>;

/** A part of a transcript in two states. */
export interface Difference {
  /** Its position in the second state, and in the first. */
  readonly index: number;
  readonly place: number;
  readonly before: readonly CorrectedSegment[];
  readonly after: readonly CorrectedSegment[];
}

const storedChange = Type.Union([
  Type.Object({
    kind: Type.Literal("segments"),
    index: count,
    removed: Type.Array(storedSegment),
    inserted: Type.Array(storedSegment),
  }),
  Type.Object({
    kind: Type.Literal("speakers"),
    ids: Type.Array(count),
    from: Type.Array(count),
    to: count,
    uncertain: Type.Optional(Type.Array(count)),
  }),
  Type.Object({
    kind: Type.Literal("whole"),
    removed: Type.Union([Type.Array(storedSegment), Type.Null()]),
    facts: transcriptFactsSchema,
  }),
]);
const storedChanges = TypeCompiler.Compile(Type.Array(storedChange));

/**
 * Returns changes in the stored form, in which the words are not JSON within JSON. The words are written as they are,
 * because a revision of many thousands of segments is stored within one transaction.
 */
export function packChanges(changes: readonly Change[]): string {
  return `[${changes.map(packChange).join(",")}]`;
}

function packChange(change: Change): string {
  if (change.kind === "speakers") return JSON.stringify(change);
  const removed = change.removed === null ? "null" : packed(change.removed);
  const rest =
    change.kind === "whole"
      ? `"facts":${JSON.stringify(change.facts)}`
      : `"index":${change.index},"inserted":${packed(change.inserted)}`;
  return `{"kind":"${change.kind}","removed":${removed},${rest}}`;
}

/** Parses stored changes. Returns null if a backup from elsewhere brought others than this program writes. */
export function unpackChanges(stored: string): Change[] | null {
  const parsed: unknown = JSON.parse(stored);
  if (!storedChanges.Check(parsed) || !parsed.every(isSound)) return null;
  return parsed.map((change) => withSegments(change, unpacked));
}

function packed(segments: readonly CorrectedSegment[]): string {
  const list = segments.map(({ words, ...segment }) => `${JSON.stringify(segment).slice(0, -1)},"words":${words}}`);
  return `[${list.join(",")}]`;
}

const unpacked = ({ words, isSpeakerUncertain = false, ...segment }: StoredSegment): CorrectedSegment => {
  return { ...segment, isSpeakerUncertain, words: JSON.stringify(words) };
};

/** Returns the bytes of segments in their stored form. */
export function sizeOf(segments: readonly CorrectedSegment[]): number {
  return segments.reduce((sum, { text, words }) => sum + Buffer.byteLength(text) + Buffer.byteLength(words), 0);
}

/** Returns a segment without what the database adds to it. */
export function asStored({
  id,
  startMilliseconds,
  endMilliseconds,
  speaker,
  text,
  words,
  isSpeakerUncertain,
}: CorrectedSegment): CorrectedSegment {
  return { id, startMilliseconds, endMilliseconds, speaker, text, words, isSpeakerUncertain };
}

/** Returns a change with converted segments. */
function withSegments<S, T>(change: ChangeOf<S>, convert: (segment: S) => T): ChangeOf<T> {
  if (change.kind === "speakers") return change;
  if (change.kind === "whole") return { ...change, removed: change.removed?.map(convert) ?? null };
  return { ...change, removed: change.removed.map(convert), inserted: change.inserted.map(convert) };
}

/** Returns whether a stored change has only segments as a transcript may have them. */
function isSound(change: ChangeOf<StoredSegment>): boolean {
  if (change.kind === "speakers") return change.ids.length === change.from.length;
  const segments = change.kind === "whole" ? (change.removed ?? []) : [...change.removed, ...change.inserted];
  return segments.every(
    ({ startMilliseconds, endMilliseconds, text }) => startMilliseconds < endMilliseconds && text.trim() === text,
  );
}

/** Number of segments, before or after, and of their characters, beyond which a difference is shown in parts. */
const MAX_DIFFERENCE_SEGMENTS = 50;
const MAX_DIFFERENCE_CHARACTERS = 64 * 1024;

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
    const others = after.slice(from.index, index);
    const isSame =
      place - from.place === others.length &&
      before.slice(from.place, place).every((segment, at) => {
        const counterpart = others[at];
        return counterpart !== undefined && hasSameContent(segment, counterpart);
      });
    if (!isSame) addInParts(differences, { before, after }, from, { place, index });
  }
  return differences;
}

/** A position in a transcript before a change, and the one after it. */
type Position = Pick<Difference, "place" | "index">;

/** Adds the segments between two positions as differences that have no more than one may have. */
function addInParts(
  differences: Difference[],
  { before, after }: { readonly before: readonly CorrectedSegment[]; readonly after: readonly CorrectedSegment[] },
  { place, index }: Position,
  end: Position,
): void {
  while (end.place > place || end.index > index) {
    const part = { index, place, before: firstOf(before, place, end.place), after: firstOf(after, index, end.index) };
    differences.push(part);
    place += part.before.length;
    index += part.after.length;
  }
}

/**
 * Returns the differences between two states of a transcript, as small as possible. Segments are in the order of their
 * start in all states, and ids never change it, so the common ids divide the others.
 * @param isSame returns whether a segment has not changed; by default, whether people read the same
 */
export function differencesOf(
  before: readonly CorrectedSegment[],
  after: readonly CorrectedSegment[],
  isSame: (first: CorrectedSegment, second: CorrectedSegment) => boolean = hasSameContent,
): Difference[] {
  const places = new Map(before.map(({ id }, place) => [id, place]));
  const differences: Difference[] = [];
  let reached: Position = { place: 0, index: 0 };
  const add = (place: number, index: number) => {
    addInParts(differences, { before, after }, reached, { place, index });
    reached = { place, index };
  };
  after.forEach((segment, next) => {
    const place = places.get(segment.id);
    const other = place === undefined ? undefined : before[place];
    if (place === undefined || other === undefined) return;
    add(place, next);
    if (isSame(other, segment)) reached = { place: place + 1, index: next + 1 };
    else add(place + 1, next + 1);
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

/** Joins differences that follow each other, up to the limits of one. */
function joinDifferences(differences: readonly Difference[]): Difference[] {
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

/** Returns whether two segments have the same speaker, as certain. */
export function hasSameSpeaker(first: CorrectedSegment, second: CorrectedSegment): boolean {
  return first.speaker === second.speaker && first.isSpeakerUncertain === second.isSpeakerUncertain;
}

/** Returns whether two segments are the same, also in what people do not read. */
export function hasSameState(first: CorrectedSegment, second: CorrectedSegment): boolean {
  return hasSameText(first, second) && hasSameSpeaker(first, second);
}
