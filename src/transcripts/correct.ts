import { and, eq, isNull } from "drizzle-orm";
import { announce } from "../announcements/index.ts";
import { type Recording, type Store, tables, transact, type Writer } from "../database/index.ts";
import { type CorrectedState, parseState, readFacts, type TranscriptFacts, writeFacts } from "../segments/index.ts";
import { type CorrectedSegment, sizeOf } from "./changes.ts";
import { CorrectedRows, type PlacedSegment, recognizedSegments } from "./corrected-rows.ts";
import {
  type Corrected,
  type Correcting,
  type Correction,
  CorrectionError,
  type Edit,
  MAX_TRANSCRIPT_BYTES,
} from "./correction.ts";
import { Draft } from "./draft.ts";
import { stateAfter } from "./earlier-states.ts";
import { matchSpeakers } from "./match-speakers.ts";
import { REPLACEMENTS_AUTHOR, type RespelledSegment } from "./respelling.ts";
import { changesOf, type NewRevision, sentBefore, storeRevision, trimRevisions } from "./revisions.ts";

/** A restoration compares the whole transcript in each request. */
const FIRST_PLACE = { id: 0, start_milliseconds: 0 };

/**
 * Corrects a transcript, in one transaction with its searchable texts and the revision. The recognized segments never
 * change.
 * @returns null if the recording is deleted or not completed
 * @throws {CorrectionError} when the correction does not fit the transcript
 */
export function correct(
  store: Store,
  recordingId: string,
  correction: Correction | Edit,
  by: Correcting,
): Corrected | null {
  return transact(store, (writer) => {
    const recording = completedRecording(writer, recordingId);
    if (recording === null) return null;
    const repeated = sentBefore(writer, recordingId, by);
    if (repeated !== null) return repeated;
    if (by.expected !== undefined && by.expected !== recording.revision) throw new CorrectionError("not_latest");
    const { rows, before, draft } = draftOf(writer, recording);
    const next = apply(writer, recordingId, draft, rows, correction, by);
    draft.finish();
    if (draft.changes.length === 0) {
      // Nobody has corrected the transcript yet, so its segments are still the recognized ones.
      if (recording.revision === 0) rows.removeAll();
      return { number: null, replaces: null, next };
    }
    const replaces = storeDraft(writer, recording, draft, { correction, by, next, before });
    return { number: draft.number, replaces, next };
  });
}

/** Returns the record of a completed recording; null if it is deleted or not completed. */
function completedRecording(writer: Writer, id: string): Recording | null {
  const { recordings } = tables;
  const isIt = and(eq(recordings.id, id), eq(recordings.status, "completed"), isNull(recordings.deletedAt));
  return writer.select().from(recordings).where(isIt).get() ?? null;
}

/** Begins the next revision of a recording. The first one copies the recognized segments. */
function draftOf(writer: Writer, { id, revision, correctedState }: Recording) {
  const rows = new CorrectedRows(writer, id);
  if (revision === 0) rows.copyRecognized();
  const before = parseState(correctedState) ?? rows.firstState();
  return { rows, before, draft: new Draft(rows, before, revision + 1) };
}

/** Stores a draft as the latest revision. @returns number of the revision that it continues and replaces */
function storeDraft(
  writer: Writer,
  { id, updatedAt }: Recording,
  draft: Draft,
  {
    before,
    isAnnounced = true,
    ...made
  }: Pick<NewRevision, "correction" | "by" | "next"> & {
    readonly before: CorrectedState;
    readonly isAnnounced?: boolean;
  },
): number | null {
  const { recordings } = tables;
  const after = draft.state();
  // A page reads a transcript again that was replaced as a whole.
  const isWhole = draft.changes.some(({ kind }) => kind === "whole");
  const reorders = isWhole || JSON.stringify(after.order) !== JSON.stringify(before.order);
  const replaces = storeRevision(writer, id, { draft, reorders, ...made });
  const trimmed = trimRevisions(writer, id, draft.number, isWhole) ?? after.trimmed;
  const corrected = writer
    .update(recordings)
    .set({
      revision: draft.number,
      correctedState: JSON.stringify({ ...after, trimmed }),
      // An export's ETag depends on the time, so it must differ from the one before.
      updatedAt: Math.max(made.by.now, updatedAt + 1),
    })
    .where(eq(recordings.id, id))
    .returning()
    .get();
  if (isAnnounced) announce(writer, "recording.corrected", corrected, made.by.now);
  return replaces;
}

/** Applies a correction. Returns where a `replace` or a `restore` continues, or null. */
function apply(
  writer: Writer,
  recordingId: string,
  draft: Draft,
  rows: CorrectedRows,
  correction: Correction | Edit,
  { seen }: Correcting,
): Corrected["next"] {
  /** Returns a segment whose text the person has seen. */
  const seenSegment = (id: number): PlacedSegment => {
    const segment = rows.find(id);
    if (segment === null || segment.revision > seen) throw new CorrectionError("changed_meanwhile");
    return segment;
  };
  const present = (id: number): PlacedSegment => {
    const segment = rows.find(id);
    if (segment === null) throw new CorrectionError("changed_meanwhile");
    return segment;
  };
  switch (correction.action) {
    case "text":
      draft.setText(seenSegment(correction.segment), correction.text);
      return null;
    case "split":
      draft.split(seenSegment(correction.segment), correction.character);
      return null;
    case "merge":
      draft.merge(present(correction.segment), present(correction.next));
      return null;
    case "assign":
      draft.assign(correction.segments.map(present), correction.speaker);
      return null;
    case "edit":
      for (const { segments, speaker } of correction.speakers) draft.assign(segments.map(present), speaker);
      // Read after the speakers are assigned, so that a segment with a new text keeps its new speaker.
      for (const { segment, text } of correction.texts) draft.setText(present(segment), text);
      return null;
    case "merge_speakers":
      draft.mergeSpeakers(correction.from, correction.into);
      return null;
    case "replace": {
      const { after, except } = correction;
      const from = after === null ? null : { id: after.id, startMilliseconds: after.start_milliseconds };
      const reached = draft.replaceText(correction, from, new Set(except));
      return reached === null ? null : { id: reached.id, start_milliseconds: reached.startMilliseconds };
    }
    case "revert": {
      const changes = changesOf(writer, recordingId, correction.revision);
      const [whole] = changes;
      if (whole?.kind !== "whole") draft.revert(changes);
      else if (correction.revision < draft.number - 1) throw new CorrectionError("changed_meanwhile");
      else {
        const segments = whole.removed ?? recognizedSegments(writer, recordingId);
        replaceWhole(writer, recordingId, draft, { segments, facts: whole.facts }, rows.all());
      }
      return null;
    }
    case "restore": {
      const latest = rows.all();
      const { segments, facts } = stateAfter(writer, recordingId, correction.revision, latest);
      if (facts === null) return draft.restore(segments, latest) ? FIRST_PLACE : null;
      replaceWhole(writer, recordingId, draft, { segments, facts }, latest);
      return null;
    }
  }
}

/** A whole transcript, and the facts about it. */
interface WholeTranscript {
  readonly segments: readonly Omit<CorrectedSegment, "id">[];
  readonly facts: TranscriptFacts;
}

/** Replaces a transcript by another one. @param removed its segments; null: as recognized */
function replaceWhole(
  writer: Writer,
  recordingId: string,
  draft: Draft,
  { segments, facts }: WholeTranscript,
  removed: readonly CorrectedSegment[] | null,
): void {
  draft.replaceAll(segments, { removed, facts: readFacts(writer, recordingId) });
  writeFacts(writer, recordingId, facts);
}

/**
 * Makes the transcript of a rerun the next revision of a recording. Call it in the transaction that completes the rerun.
 * @param by.editor an id of its own, because no page sends it
 * @returns the numbers that its speakers get in the recording; null if the recording is gone
 */
export function applyRerun(
  writer: Writer,
  recordingId: string,
  transcript: WholeTranscript,
  by: Pick<Correcting, "author" | "editor" | "now">,
): Map<number, number> | null {
  const recording = completedRecording(writer, recordingId);
  if (recording === null) return null;
  const { rows, before, draft } = draftOf(writer, recording);
  const latest = rows.all();
  const numbers = matchSpeakers(latest, transcript.segments, before.nextSpeaker);
  const segments = transcript.segments.map((segment) => ({
    ...segment,
    speaker: numbers.get(segment.speaker) ?? segment.speaker,
  }));
  replaceWhole(writer, recordingId, draft, { ...transcript, segments }, recording.revision === 0 ? null : latest);
  const correction = { action: "process" } as const;
  storeDraft(writer, recording, draft, { correction, by: { ...by, sequence: 0 }, next: null, before });
  return numbers;
}

/**
 * Makes the words that the account always writes in one way the next revision of a recording, from whose recognized
 * words people can still take them back. Call it in the transaction that completes the recording or its rerun.
 * @param segments those that change, by their indexes in the latest transcript
 * @param by.editor an id of its own, because no page sends it
 * @param isAnnounced whether webhooks get an event of their own
 */
export function applyRespelling(
  writer: Writer,
  recordingId: string,
  segments: readonly RespelledSegment[],
  by: Pick<Correcting, "editor" | "now">,
  isAnnounced: boolean,
): void {
  const recording = segments.length === 0 ? null : completedRecording(writer, recordingId);
  if (recording === null) return;
  const { rows, before, draft } = draftOf(writer, recording);
  let size = before.size ?? rows.size();
  for (const respelled of segments) {
    // Its segments have ids in the order of their indexes.
    const segment = rows.find((before.firstSegment ?? 0) + respelled.index);
    if (segment === null) continue;
    const growth = sizeOf([{ ...segment, ...respelled }]) - sizeOf([segment]);
    // The recognized words stay where the transcript would be too long.
    if (growth > 0 && size + growth > MAX_TRANSCRIPT_BYTES) continue;
    size += growth;
    draft.respell(segment, respelled);
  }
  draft.finish();
  const correction = { action: "respell" } as const;
  const author = REPLACEMENTS_AUTHOR;
  if (draft.changes.length > 0)
    storeDraft(writer, recording, draft, {
      correction,
      by: { ...by, author, sequence: 0 },
      next: null,
      before,
      isAnnounced,
    });
  else if (recording.revision === 0) rows.removeAll();
}
