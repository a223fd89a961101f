import type { CorrectedState, StoredWord, TranscriptFacts } from "../segments/index.ts";
import { cleanText } from "../text/index.ts";
import {
  asStored,
  type Change,
  type CorrectedSegment,
  differencesOf,
  hasSameSpeaker,
  hasSameState,
  hasSameText,
  sizeOf,
} from "./changes.ts";
import type { CorrectedRows, Place, PlacedSegment, SegmentSpeaker } from "./corrected-rows.ts";
import {
  CorrectionError,
  MAX_TEXT_CHARACTERS,
  MAX_TRANSCRIPT_BYTES,
  MAX_TRANSCRIPT_SEGMENTS,
  type Replacement,
} from "./correction.ts";
import { placesToReplace, replaceIn } from "./replacements.ts";
import { joined, retimeWords, splitAt, type TimedText } from "./word-times.ts";

/** Maximum number of segments that one request changes or restores, so that others wait for a tenth of a second. */
const SEGMENTS_AT_ONCE = 100;
/** Bytes of changed segments, before and after, beyond which one request changes or restores no more. */
const BYTES_AT_ONCE = 2 * 1024 * 1024;
/** Number of segments that are searched at once for a text to replace. */
const SEARCHED_AT_ONCE = 25;
/** The highest id of a segment: the next row of the search index is the recording's name. */
const MAX_SEGMENT_ID = 2 ** 21 - 2;
/** Maximum number of speakers of a transcript; a recording starts with at most 50. */
const MAX_SPEAKERS = 200;

/** A revision that is being made: each method applies a change at once and records it. */
export class Draft {
  readonly #rows: CorrectedRows;
  readonly #changes: Change[] = [];
  readonly #touched = new Set<number>();
  /** The latest texts of segments that have another one, by id; null for one that is gone. */
  readonly #texts = new Map<number, string | null>();
  /** Segments that were added or removed. */
  readonly #shifts: (Place & { readonly by: 1 | -1 })[] = [];
  #state: CorrectedState;
  /** Bytes of the transcript in its stored form. */
  #size: number;
  /** Bytes of the recorded changes. */
  #recorded = 0;

  /** @param number number of the revision */
  constructor(
    rows: CorrectedRows,
    state: CorrectedState,
    readonly number: number,
  ) {
    this.#rows = rows;
    this.#state = state;
    this.#size = state.size ?? rows.size();
  }

  get changes(): readonly Change[] {
    return this.#changes;
  }

  /** Number of segments that have changed, or that are gone. */
  get segments(): number {
    return this.#touched.size;
  }

  /** Returns the facts about the transcript after the changes. */
  state(): CorrectedState {
    const state = { ...this.#state, size: Math.max(0, this.#size) };
    return this.#changes.every(keepsSpeakers) ? state : { ...state, order: this.#rows.speakers() };
  }

  /** Replaces the text of a segment; an empty text removes the segment. */
  setText(segment: PlacedSegment, text: string): void {
    const cleaned = cleanText(text);
    if (cleaned === segment.text) return;
    if (cleaned === "") this.#remove(segment);
    else this.#update(segment, { ...segment, text: cleaned, words: packed(retimeWords(timed(segment), cleaned)) });
  }

  /** Replaces the text of a segment and its words, which are the text together. */
  respell(segment: PlacedSegment, { text, words }: Pick<CorrectedSegment, "text" | "words">): void {
    this.#update(segment, { ...segment, text, words });
  }

  /** Splits a segment. @throws {CorrectionError} `nothing_to_split`, `too_many_segments` */
  split(segment: PlacedSegment, character: number): void {
    const halves = splitAt(timed(segment), character);
    if (halves === null) throw new CorrectionError("nothing_to_split");
    const [left, right] = halves.map((half) => ({ ...segment, ...half, words: packed(half.words) }));
    if (left === undefined || right === undefined) return;
    this.#update(segment, left);
    // Another speaker may have interrupted, so the second part need not follow the first.
    this.#insert({ ...right, id: this.#newSegment() });
  }

  /** Joins two segments that follow each other. @throws {CorrectionError} `not_mergeable` */
  merge(segment: PlacedSegment, next: PlacedSegment): void {
    if (next.index !== segment.index + 1) throw new CorrectionError("not_mergeable");
    const both = joined(timed(segment), timed(next));
    if (both.text.length > MAX_TEXT_CHARACTERS) throw new CorrectionError("not_mergeable");
    this.#remove(next);
    this.#update(segment, { ...segment, ...both, words: packed(both.words) });
  }

  /**
   * Assigns segments to a speaker, who is certain from now on: also the speaker whom a segment has already.
   * @param to null: a new speaker
   * @throws {CorrectionError} `no_such_speaker`, `too_many_speakers`
   */
  assign(segments: readonly SegmentSpeaker[], to: number | null): void {
    if (to !== null && !this.#state.order.includes(to)) throw new CorrectionError("no_such_speaker");
    this.#setSpeaker(segments, to ?? this.#newSpeaker(), () => false);
  }

  /**
   * Assigns all segments of a speaker to another one. Uncertain ones stay uncertain: nobody has listened to each of them.
   * @throws {CorrectionError} `no_such_speaker`
   */
  mergeSpeakers(from: number, into: number): void {
    const segments = this.#rows.segmentsOf(from);
    if (segments.length === 0 || !this.#state.order.includes(into)) throw new CorrectionError("no_such_speaker");
    this.#setSpeaker(segments, into, isUncertain);
  }

  /**
   * Replaces a text in about a hundred segments.
   * @param after place behind which to search; null: from the first segment
   * @param except ids of segments that stay as they are
   * @returns the place from which to continue; null at the end
   * @throws {CorrectionError} `text_too_long`
   */
  replaceText(replacement: Replacement, after: Place | null, except: ReadonlySet<number>): Place | null {
    for (let from = after; ; ) {
      const some = this.#rows.after(from, SEARCHED_AT_ONCE);
      for (const segment of some) {
        const places = except.has(segment.id) ? [] : placesToReplace(segment.text, replacement);
        if (places.length > 0) {
          if (this.#isFull) return from;
          this.setText(segment, replaceIn(segment.text, replacement, places));
        }
        from = { id: segment.id, startMilliseconds: segment.startMilliseconds };
      }
      if (some.length < SEARCHED_AT_ONCE) return null;
    }
  }

  /** Takes back the changes of a revision. @throws {CorrectionError} `changed_meanwhile` */
  revert(changes: readonly Change[]): void {
    for (const change of changes.toReversed()) {
      if (change.kind === "segments") this.#revertSegments(change.removed, change.inserted);
      else if (change.kind === "speakers") this.#revertSpeakers(change);
    }
  }

  /**
   * Replaces the whole transcript, as the only change of the revision. The segments get new ids, so that no correction of
   * the former ones fits them by accident.
   * @param before the transcript as it is now, and the facts about it
   * @throws {CorrectionError} `too_many_segments`
   */
  replaceAll(
    segments: readonly Omit<CorrectedSegment, "id">[],
    before: { readonly removed: readonly CorrectedSegment[] | null; readonly facts: TranscriptFacts },
  ): void {
    if (segments.length > MAX_TRANSCRIPT_SEGMENTS) throw new CorrectionError("too_many_segments");
    const firstSegment = this.#state.nextSegment;
    const placed = segments.map((segment) => asStored({ ...segment, id: this.#newId() }));
    this.#rows.replaceAll(placed, this.number);
    this.#size = sizeOf(placed);
    this.#changes.push({ kind: "whole", ...before });
    for (const { id } of placed) this.#touched.add(id);
    const nextSpeaker = Math.max(this.#state.nextSpeaker, ...new Set(placed.map(({ speaker }) => speaker + 1)));
    const recognized = this.#state.recognized ?? before.facts;
    this.#state = { ...this.#state, firstSegment, nextSpeaker, recognized };
  }

  /**
   * Restores about a hundred segments of an earlier state of the transcript.
   * @param latest its segments as they are now
   * @returns whether there are more
   */
  restore(before: readonly CorrectedSegment[], latest: readonly CorrectedSegment[]): boolean {
    for (const difference of differencesOf(before, latest, hasSameState)) {
      if (this.#isFull) return true;
      const present = difference.after.flatMap(({ id }) => this.#rows.find(id) ?? []);
      this.#exchange(present, difference.before);
    }
    return false;
  }

  /** Sets the indexes, and updates the search. Call it after the last change. */
  finish(): void {
    this.#rows.updateSearch(this.#texts);
    if (this.#shifts.length > 0) this.#rows.renumber();
  }

  #revertSegments(removed: readonly CorrectedSegment[], inserted: readonly CorrectedSegment[]): void {
    const present = inserted.flatMap((original) => {
      const segment = this.#rows.find(original.id);
      return segment !== null && hasSameText(segment, original) ? [segment] : [];
    });
    const isTaken = removed.some(({ id }) => inserted.every((each) => each.id !== id) && this.#rows.find(id) !== null);
    if (present.length < inserted.length || isTaken) throw new CorrectionError("changed_meanwhile");
    const [only] = present;
    const [lost] = removed;
    if (present.length === 1 && removed.length === 1 && only !== undefined && lost?.id === only.id) {
      // A speaker that was assigned or confirmed since stays.
      const [original] = inserted;
      const isOther = original === undefined || !hasSameSpeaker(only, original);
      const { speaker, isSpeakerUncertain } = isOther ? only : lost;
      this.#exchange(present, [{ ...lost, speaker, isSpeakerUncertain }]);
    } else this.#exchange(present, removed);
  }

  #revertSpeakers({ ids, from, to, uncertain = [] }: Extract<Change, { kind: "speakers" }>): void {
    const speakers = new Map(ids.map((id, place) => [id, from[place] ?? to]));
    const present = this.#rows.speakersOf(ids).filter(({ speaker }) => speaker === to);
    if (present.length === 0) throw new CorrectionError("changed_meanwhile");
    const wereUncertain = new Set(uncertain);
    for (const [speaker, segments] of Map.groupBy(present, ({ id }) => speakers.get(id) ?? to)) {
      this.#setSpeaker(segments, speaker, ({ id }) => wereUncertain.has(id));
    }
  }

  /** @param willBeUncertain returns whether the new speaker of a segment is uncertain */
  #setSpeaker(
    segments: readonly SegmentSpeaker[],
    to: number,
    willBeUncertain: (segment: SegmentSpeaker) => boolean,
  ): void {
    const others = segments.filter((segment) => {
      return segment.speaker !== to || segment.isSpeakerUncertain !== willBeUncertain(segment);
    });
    if (others.length === 0) return;
    for (const [isSpeakerUncertain, some] of Map.groupBy(others, willBeUncertain)) {
      this.#rows.setSpeaker(idsOf(some), to, isSpeakerUncertain, this.number);
    }
    const ids = idsOf(others);
    const uncertain = idsOf(others.filter(isUncertain));
    const change = { kind: "speakers", ids, from: others.map(({ speaker }) => speaker), to } as const;
    this.#changes.push(uncertain.length === 0 ? change : { ...change, uncertain });
    for (const id of ids) this.#touched.add(id);
  }

  /** Replaces segments by others. */
  #exchange(before: readonly PlacedSegment[], after: readonly CorrectedSegment[]): void {
    const others = new Map(after.map((segment) => [segment.id, segment]));
    for (const segment of before) {
      const other = others.get(segment.id);
      if (other === undefined) this.#remove(segment);
      else this.#update(segment, other);
      others.delete(segment.id);
    }
    for (const segment of others.values()) this.#insert(segment);
  }

  #update(segment: PlacedSegment, other: CorrectedSegment): void {
    this.#rows.update(asStored(other), this.number);
    this.#record(this.#indexOf(segment), [segment], [other]);
  }

  #remove(segment: PlacedSegment): void {
    const index = this.#indexOf(segment);
    this.#rows.remove(segment.id);
    this.#record(index, [segment], []);
    this.#shifts.push({ ...segment, by: -1 });
  }

  #insert(segment: CorrectedSegment): void {
    const [next] = this.#rows.after(segment, 1);
    const index = next === undefined ? this.#rows.count() : this.#indexOf(next);
    // The stored index is what it would be without the shifts of this draft, as for all other segments.
    this.#rows.insert(asStored(segment), index - this.#shiftOf(segment), this.number);
    this.#record(index, [], [segment]);
    this.#shifts.push({ ...segment, by: 1 });
  }

  /** Whether one request has changed as much as it may. */
  get #isFull(): boolean {
    return this.segments >= SEGMENTS_AT_ONCE || this.#recorded >= BYTES_AT_ONCE;
  }

  /** @throws {CorrectionError} `transcript_too_long` */
  #record(index: number, removed: readonly CorrectedSegment[], inserted: readonly CorrectedSegment[]): void {
    const [before, after] = [sizeOf(removed), sizeOf(inserted)];
    this.#size += after - before;
    this.#recorded += after + before;
    if (after > before && this.#size > MAX_TRANSCRIPT_BYTES) throw new CorrectionError("transcript_too_long");
    this.#changes.push({ kind: "segments", index, removed: removed.map(asStored), inserted: inserted.map(asStored) });
    for (const { id } of [...removed, ...inserted]) this.#touched.add(id);
    for (const { id } of removed) this.#texts.set(id, null);
    for (const { id, text } of inserted) this.#texts.set(id, text);
  }

  /** Returns the index of a segment. The stored ones are those before this draft, until `finish`. */
  #indexOf(segment: PlacedSegment): number {
    return segment.index + this.#shiftOf(segment);
  }

  #shiftOf({ startMilliseconds: start, id }: Place): number {
    const isBefore = (place: Place) =>
      place.startMilliseconds < start || (place.startMilliseconds === start && place.id < id);
    return this.#shifts.reduce((sum, shift) => sum + (isBefore(shift) ? shift.by : 0), 0);
  }

  /** Returns the id of a segment that the transcript has in addition. */
  #newSegment(): number {
    if (this.#rows.count() >= MAX_TRANSCRIPT_SEGMENTS) throw new CorrectionError("too_many_segments");
    return this.#newId();
  }

  #newId(): number {
    const id = this.#state.nextSegment;
    if (id > MAX_SEGMENT_ID) throw new CorrectionError("too_many_segments");
    this.#state = { ...this.#state, nextSegment: id + 1 };
    return id;
  }

  #newSpeaker(): number {
    const number = this.#state.nextSpeaker;
    if (this.#state.order.length >= MAX_SPEAKERS) throw new CorrectionError("too_many_speakers");
    this.#state = { ...this.#state, nextSpeaker: number + 1 };
    return number;
  }
}

/** Returns whether a change leaves the order in which speakers appear, whatever comes before and after. */
function keepsSpeakers(change: Change): boolean {
  if (change.kind !== "segments") return false;
  const { removed, inserted } = change;
  return (
    removed.length === inserted.length && removed.every(({ speaker }, place) => speaker === inserted[place]?.speaker)
  );
}

function timed({ words, ...segment }: CorrectedSegment): TimedText {
  return { ...segment, words: JSON.parse(words) as StoredWord[] };
}

const packed = (words: readonly StoredWord[]) => JSON.stringify(words);

const idsOf = (segments: readonly SegmentSpeaker[]) => segments.map(({ id }) => id);

const isUncertain = ({ isSpeakerUncertain }: SegmentSpeaker) => isSpeakerUncertain;
