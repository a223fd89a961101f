import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, desc, eq, gt, lt } from "drizzle-orm";
import { type Store, tables, type Writer } from "../database/index.ts";
import { latestRevision, type TranscriptFacts } from "../segments/index.ts";
import { type Change, type CorrectedSegment, compareStates, type Difference } from "./changes.ts";
import { CorrectedRows, recognizedSegments } from "./corrected-rows.ts";
import { CorrectionError } from "./correction.ts";
import { changesOf } from "./revisions.ts";

const { revisions } = tables;

/** Number of revisions that are undone between two turns of the event loop. */
const BATCH = 100;

/** The differences between a transcript as it was after a revision, and as it is now or was after another one. */
export interface Comparison {
  readonly differences: readonly Difference[];
  /** Speakers of the earlier state, in order of first appearance. */
  readonly speakersBefore: readonly number[];
  /** Those of the later state. */
  readonly speakersAfter: readonly number[];
}

/**
 * Compares the transcript after a revision, or as recognized (0), with the one after another revision.
 * @param other null: the latest at the time of the call
 * @throws as `stateAfter`
 */
export async function compareRevision(
  store: Store,
  recordingId: string,
  number: number,
  other: number | null = null,
): Promise<Comparison> {
  const { latest, revision } = latestState(store, recordingId);
  const after = other === null || other === revision ? latest : await undoTo(store, recordingId, other, latest);
  const before = await undoTo(store, recordingId, number, latest);
  return {
    differences: after === null ? [] : compareStates(before, after),
    speakersBefore: speakersOf(before),
    speakersAfter: speakersOf(after ?? before),
  };
}

/** Segments of a transcript, and its speakers in order of first appearance. */
export interface EarlierState {
  readonly segments: readonly CorrectedSegment[];
  readonly speakers: readonly number[];
}

/** Returns the transcript as it was after a revision, or as recognized (0). @throws as `stateAfter` */
export async function readEarlierState(store: Store, recordingId: string, number: number): Promise<EarlierState> {
  const { latest } = latestState(store, recordingId);
  const segments = await undoTo(store, recordingId, number, latest);
  return { segments, speakers: speakersOf(segments) };
}

/** Returns the latest corrected segments; null if the transcript is as it was recognized. */
function latestState(store: Store, recordingId: string) {
  const { revision } = latestRevision(store, recordingId);
  return { revision, latest: revision > 0 ? new CorrectedRows(store, recordingId).all() : null };
}

/** Undoes the revisions after one, and yields to other requests between batches of them. */
async function undoTo(
  store: Store,
  recordingId: string,
  number: number,
  latest: readonly CorrectedSegment[] | null,
): Promise<readonly CorrectedSegment[]> {
  const undoing = undoingTo(store, recordingId, number, latest);
  for (let step = undoing.next(); ; step = undoing.next()) {
    if (step.done === true) return step.value.segments;
    await yieldToEventLoop();
  }
}

const speakersOf = (segments: readonly CorrectedSegment[]) => [...new Set(segments.map(({ speaker }) => speaker))];

/** A transcript as it was after a revision. */
interface EarlierTranscript {
  readonly segments: readonly CorrectedSegment[];
  /** The facts about it, if another whole transcript has replaced it since; else null. */
  readonly facts: TranscriptFacts | null;
}

/**
 * Returns a transcript as it was after a revision; 0: as recognized.
 * @param latest the segments as they are now
 * @throws {CorrectionError} `no_such_revision` if the revision is not stored, or not any more
 */
export function stateAfter(
  writer: Writer,
  recordingId: string,
  number: number,
  latest: readonly CorrectedSegment[],
): EarlierTranscript {
  const undoing = undoingTo(writer, recordingId, number, latest);
  for (;;) {
    const step = undoing.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Undoes the revisions after one in steps, between which others may correct the transcript: only the latest revision
 * can still change, and the first step has read it.
 * @param latest the segments when the first step begins; not needed for the recognized transcript
 */
function* undoingTo(
  writer: Writer,
  recordingId: string,
  number: number,
  latest: readonly CorrectedSegment[] | null,
): Generator<void, EarlierTranscript> {
  const recognized = () => recognizedSegments(writer, recordingId);
  if (latest === null && number > 0) throw new CorrectionError("no_such_revision");
  if (number === 0 || latest === null) {
    // If another whole transcript has replaced it, the state has its facts.
    return { segments: recognized(), facts: latestRevision(writer, recordingId).state?.recognized ?? null };
  }
  const state = new UndoneState(latest, recognized);
  for (let reached = Number.MAX_SAFE_INTEGER; ; ) {
    const later = writer
      .select({ number: revisions.number })
      .from(revisions)
      .where(and(eq(revisions.recordingId, recordingId), gt(revisions.number, number), lt(revisions.number, reached)))
      .orderBy(desc(revisions.number))
      .limit(BATCH)
      .all();
    for (const revision of later) {
      // One at a time: the changes of a revision may take megabytes.
      state.undo(changesOf(writer, recordingId, revision.number));
      reached = revision.number;
    }
    // The oldest revisions are removed first, so that none is missing as long as this one is there.
    changesOf(writer, recordingId, number);
    if (later.length < BATCH) return { segments: state.segments(), facts: state.facts };
    yield;
  }
}

/** A transcript of which changes are undone, the latest first. */
class UndoneState {
  #segments: CorrectedSegment[];
  readonly #recognized: () => CorrectedSegment[];
  /** The facts about the transcript, if another whole one has replaced it. */
  facts: TranscriptFacts | null = null;
  /** Speakers of segments before the undone changes, by id. One pass at the end is enough for all changes. */
  readonly #speakers = new Map<number, Pick<CorrectedSegment, "speaker" | "isSpeakerUncertain">>();

  constructor(latest: readonly CorrectedSegment[], recognized: () => CorrectedSegment[]) {
    this.#segments = [...latest];
    this.#recognized = recognized;
  }

  /** Undoes changes, which are given in the order in which they were made. */
  undo(changes: readonly Change[]): void {
    for (const change of changes.toReversed()) {
      if (change.kind === "segments") {
        this.#segments.splice(change.index, change.inserted.length, ...change.removed);
        for (const { id } of change.removed) this.#speakers.delete(id);
      } else if (change.kind === "whole") {
        this.#segments = change.removed === null ? this.#recognized() : [...change.removed];
        this.#speakers.clear();
        this.facts = change.facts;
      } else {
        const uncertain = new Set(change.uncertain);
        for (const [place, id] of change.ids.entries()) {
          const speaker = change.from[place] ?? change.to;
          this.#speakers.set(id, { speaker, isSpeakerUncertain: uncertain.has(id) });
        }
      }
    }
  }

  /** Returns the segments as they were before the changes. */
  segments(): CorrectedSegment[] {
    return this.#segments.map((segment) => ({ ...segment, ...this.#speakers.get(segment.id) }));
  }
}
