import type { Store } from "../storage/index.ts";
import type { Recording } from "./recording-rows.ts";
import {
  allSegmentsWithWords,
  type Outline,
  readOutline,
  readSegments,
  readSegmentsWithWords,
  type SegmentWithWords,
  type StoredSegment,
} from "./segments.ts";
import { readSpeakerNames, renameSpeakers, speakersOf } from "./speakers.ts";

/**
 * The transcript of a recording, which is empty unless the recording has completed. It reads on demand. Surfaces get it
 * from the library, which checks who may see it.
 */
export class Transcript {
  readonly recording: Recording;
  readonly #store: Store;

  constructor(store: Store, recording: Recording) {
    this.#store = store;
    this.recording = recording;
  }

  /** Returns up to `limit` segments from an index on, in order. */
  segments(from: number, limit: number): StoredSegment[] {
    return readSegments(this.#store, this.recording.id, from, limit);
  }

  /** Returns up to `limit` segments with their words from an index on, in order. */
  segmentsWithWords(from: number, limit: number): SegmentWithWords[] {
    return readSegmentsWithWords(this.#store, this.recording.id, from, limit);
  }

  /** Yields all segments with their words, in order. */
  allSegments(): Generator<SegmentWithWords> {
    return allSegmentsWithWords(this.#store, this.recording.id);
  }

  /** Returns the speakers and text lengths of all segments. */
  outline(): Promise<Outline> {
    return readOutline(this.#store, this.recording.id);
  }

  /** Returns the numbers of all speakers, in order. */
  speakers(): number[] {
    return speakersOf(this.#store, this.recording.id);
  }

  /** Returns the names of the speakers that have one. */
  speakerNames(): Map<number, string> {
    return readSpeakerNames(this.#store, this.recording.id);
  }

  /** Names speakers; an empty name removes one. */
  rename(names: ReadonlyMap<number, string>): void {
    renameSpeakers(this.#store, this.recording.id, names);
  }
}
