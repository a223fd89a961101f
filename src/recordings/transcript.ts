import type { Store } from "../storage/index.ts";
import {
  type Comparison,
  type Corrected,
  type Correcting,
  type Correction,
  changesAfter,
  compareRevision,
  correct,
  type Editing,
  type LaterChanges,
  listRevisions,
  type Revision,
} from "./corrections/index.ts";
import {
  allSegmentsWithWords,
  latestRevision,
  readOutline,
  readSegment,
  readSegments,
  readSegmentsWithWords,
  speakersOf,
} from "./latest-segments.ts";
import type { Recording } from "./recording-rows.ts";
import type { Outline, SegmentWithWords, StoredSegment } from "./segments.ts";
import { readSpeakerNames, renameSpeakers } from "./speakers.ts";

/**
 * The latest transcript of a recording, with the corrections of people; it is empty unless the recording has completed.
 * It reads on demand. Surfaces get it from the library, which checks who may see it. Speakers are positions in the order
 * of first appearance, unless a method says otherwise.
 */
export class Transcript {
  readonly recording: Recording;
  readonly #store: Store;

  constructor(store: Store, recording: Recording) {
    this.#store = store;
    this.recording = recording;
  }

  /** Number of the latest revision; 0 if nobody has corrected the transcript. */
  get revision(): number {
    return latestRevision(this.#store, this.recording.id).revision;
  }

  /** Returns up to `limit` segments from an index on, in order. */
  segments(from: number, limit: number): StoredSegment[] {
    return readSegments(this.#store, this.recording.id, from, limit);
  }

  /** Returns the segment with an id, such as a search finds; null if it is gone. */
  segment(id: number): StoredSegment | null {
    return readSegment(this.#store, this.recording.id, id);
  }

  /** Returns up to `limit` segments with their words from an index on, in order. */
  segmentsWithWords(from: number, limit: number): SegmentWithWords[] {
    return readSegmentsWithWords(this.#store, this.recording.id, from, limit);
  }

  /** Returns all segments with their words, in order. */
  allSegments(): Generator<SegmentWithWords> {
    return allSegmentsWithWords(this.#store, this.recording.id);
  }

  /** Returns the speakers and text lengths of all segments. */
  outline(): Promise<Outline> {
    return readOutline(this.#store, this.recording.id);
  }

  /** Returns the numbers of all speakers, which never change, in order of first appearance. */
  speakerNumbers(): readonly number[] {
    return speakersOf(this.#store, this.recording.id);
  }

  /** Returns the names of the speakers that have one, by their numbers. */
  namesByNumber(): ReadonlyMap<number, string> {
    return readSpeakerNames(this.#store, this.recording.id);
  }

  /** Returns the names of the speakers that have one. */
  speakerNames(): Map<number, string> {
    const names = this.namesByNumber();
    return new Map(
      this.speakerNumbers().flatMap((number, position) => {
        const name = names.get(number);
        return name === undefined ? [] : [[position, name] as const];
      }),
    );
  }

  /** Names speakers, given by their numbers; an empty name removes one. */
  rename(names: ReadonlyMap<number, string>): void {
    renameSpeakers(this.#store, this.recording.id, names);
  }

  /**
   * Corrects the transcript. Speakers are given by their numbers.
   * @returns null if the recording has been deleted
   * @throws {CorrectionError} when the correction does not fit the transcript
   */
  correct(correction: Correction, by: Correcting): Corrected | null {
    return correct(this.#store, this.recording.id, correction, by);
  }

  /** Returns up to `limit` revisions before a number, newest first. */
  revisions(before: number | null, limit: number): Revision[] {
    return listRevisions(this.#store, this.recording.id, before, limit);
  }

  /** Returns what has changed after a revision, for a person on a page. */
  changesAfter(seen: number, by: Editing): LaterChanges {
    return changesAfter(this.#store, this.recording.id, seen, by);
  }

  /**
   * Compares the transcript after a revision, or as recognized (0), with the latest. Speakers are numbers.
   * @throws {CorrectionError} `no_such_revision`
   */
  compareWith(revision: number): Promise<Comparison> {
    return compareRevision(this.#store, this.recording.id, revision);
  }
}
