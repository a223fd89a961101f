import { and, eq, isNull } from "drizzle-orm";
import { type Store, tables, transact, type Writer } from "../../storage/index.ts";
import { parseState } from "../latest-segments.ts";
import { CorrectedRows, type PlacedSegment } from "./corrected-rows.ts";
import { type Corrected, type Correcting, type Correction, CorrectionError } from "./correction.ts";
import { Draft } from "./draft.ts";
import { stateAfter } from "./earlier-states.ts";
import { changesOf, sentBefore, storeRevision, trimRevisions } from "./revisions.ts";

/** A restoration compares the whole transcript in each request. */
const FIRST_PLACE = { id: 0, start_milliseconds: 0 };

/**
 * Corrects a transcript, in one transaction with its searchable texts and the revision. The recognized segments never
 * change.
 * @returns null if the recording is deleted or not completed
 * @throws {CorrectionError} when the correction does not fit the transcript
 */
export function correct(store: Store, recordingId: string, correction: Correction, by: Correcting): Corrected | null {
  const { recordings, correctedSegments } = tables;
  return transact(store, (writer) => {
    const isIt = and(eq(recordings.id, recordingId), eq(recordings.status, "completed"), isNull(recordings.deletedAt));
    const recording = writer.select().from(recordings).where(isIt).get();
    if (recording === undefined) return null;
    const { revision, correctedState, updatedAt } = recording;
    const repeated = sentBefore(writer, recordingId, by);
    if (repeated !== null) return repeated;
    const rows = new CorrectedRows(writer, recordingId);
    if (revision === 0) rows.copyRecognized();
    const state = parseState(correctedState) ?? rows.firstState();
    const draft = new Draft(rows, state, revision + 1);
    const next = apply(writer, recordingId, draft, rows, correction, by);
    draft.finish();
    if (draft.changes.length === 0) {
      // Nobody has corrected the transcript yet, so its segments are still the recognized ones.
      if (revision === 0) writer.delete(correctedSegments).where(eq(correctedSegments.recordingId, recordingId)).run();
      return { number: null, replaces: null, next };
    }
    const after = draft.state();
    const reorders = JSON.stringify(after.order) !== JSON.stringify(state.order);
    const replaces = storeRevision(writer, recordingId, { draft, correction, by, reorders, next });
    const trimmed = trimRevisions(writer, recordingId, draft.number) ?? after.trimmed;
    const changed = { revision: draft.number, correctedState: JSON.stringify({ ...after, trimmed }) };
    writer
      .update(recordings)
      // An export's ETag depends on the time, so it must differ from the one before.
      .set({ ...changed, updatedAt: Math.max(by.now, updatedAt + 1) })
      .where(isIt)
      .run();
    return { number: draft.number, replaces, next };
  });
}

/** Applies a correction. Returns where a `replace` or a `restore` continues, or null. */
function apply(
  writer: Writer,
  recordingId: string,
  draft: Draft,
  rows: CorrectedRows,
  correction: Correction,
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
    case "merge_speakers":
      draft.mergeSpeakers(correction.from, correction.into);
      return null;
    case "replace": {
      const { after, except } = correction;
      const from = after === null ? null : { id: after.id, startMilliseconds: after.start_milliseconds };
      const reached = draft.replaceText(correction, from, new Set(except));
      return reached === null ? null : { id: reached.id, start_milliseconds: reached.startMilliseconds };
    }
    case "revert":
      draft.revert(changesOf(writer, recordingId, correction.revision));
      return null;
    case "restore": {
      const latest = rows.all();
      const before = stateAfter(writer, recordingId, correction.revision, latest);
      return draft.restore(before, latest) ? FIRST_PLACE : null;
    }
  }
}
