import { and, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import { preparedFor, type Recording, type Store, tables, transact, type Writer } from "../database/index.ts";
import { readFacts } from "../segments/index.ts";
import type { Hints } from "../text/index.ts";
import { applyRerun, applyRespelling, recognizedSegments, type respelling } from "../transcripts/index.ts";
import { storeEnd } from "./outbox.ts";
import { newRecordingId } from "./recording-ids.ts";
import { insertQueued } from "./recording-rows.ts";
import { isOpen, OPEN_STATES } from "./states.ts";

const { recordings, speakerVoices } = tables;

/** How a recording is processed again. */
interface RerunRequest {
  /** Id of the speech model. */
  readonly speechModel: string;
  /** ISO 639; null for language detection. */
  readonly pinnedLanguage: string | null;
  /** Whether it is translated to English; by default, as the recording is. */
  readonly isTranslated?: boolean;
  /** The person or application that starts it, as in the audit log. */
  readonly author: string;
  /** Hints in place of those of the recording. */
  readonly hints?: Partial<Hints>;
}

const openReruns = preparedFor((store) =>
  store
    .select()
    .from(recordings)
    .where(
      and(isNotNull(recordings.rerunOf), inArray(recordings.status, [...OPEN_STATES]), isNull(recordings.deletedAt)),
    )
    .prepare(),
);

/**
 * The reruns of completed recordings. A rerun is a recording of its own, which passes the queue and the pipeline like any
 * other, so that the one that it processes again stays completed and readable. Nobody sees it by its id. When it
 * completes, its transcript becomes a revision of the other recording, and the rerun is removed. A failed rerun stays
 * until the next one, to show the reason.
 */
export class Reruns {
  readonly #store: Store;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Returns the rerun of a recording that is open, or has failed; null for none. */
  of(recordingId: string): Recording | null {
    return rerunOf(this.#store, recordingId);
  }

  /** Returns all open reruns. A server runs this every second, because commands create some. */
  open(): Recording[] {
    return openReruns(this.#store).all();
  }

  /** Counts the open reruns of an account. */
  countOf(accountId: string): number {
    return this.open().filter((rerun) => rerun.accountId === accountId).length;
  }

  /**
   * Creates a rerun as `queued`, by default with the hints of the recording, and with its account's current vocabulary.
   * @param check throws in the transaction if the rerun may not be created
   * @param also runs further statements in the same transaction
   * @returns null if the recording is not completed, or has an open rerun
   */
  create(
    recordingId: string,
    request: RerunRequest,
    check: (writer: Writer) => void,
    also: (writer: Writer, rerun: Recording) => void = () => {},
  ): Recording | null {
    const now = this.#now();
    return transact(this.#store, (writer) => {
      const isIt = and(
        eq(recordings.id, recordingId),
        eq(recordings.status, "completed"),
        isNull(recordings.deletedAt),
      );
      const recording = writer.select().from(recordings).where(isIt).get();
      if (recording === undefined || recording.rerunOf !== null) return null;
      const before = rerunOf(writer, recordingId);
      if (before !== null && isOpen(before.status)) return null;
      check(writer);
      // A failed rerun has no rows but its record.
      if (before !== null) writer.delete(recordings).where(eq(recordings.id, before.id)).run();
      const { accountId, workspaceId, prompt, minSpeakers, maxSpeakers } = recording;
      const { author: rerunBy, hints, isTranslated = recording.isTranslated, ...choice } = request;
      const own = { id: newRecordingId(now), isTransient: true, rerunOf: recordingId, rerunBy };
      const inherited = { isTranslated, accountId, workspaceId, prompt, minSpeakers, maxSpeakers };
      // It has no size, because it has no audio of its own.
      const rerun = insertQueued(writer, { ...own, ...choice, ...inherited, ...hints }, now);
      also(writer, rerun);
      return rerun;
    });
  }

  /** Returns these recordings and their reruns. A rerun comes before its recording, whose removal would remove it. */
  withReruns(ids: readonly string[]): string[] {
    return ids.flatMap((id) => {
      const rerun = this.of(id);
      return rerun === null ? [id] : [rerun.id, id];
    });
  }
}

function rerunOf(reader: Pick<Writer, "select">, recordingId: string): Recording | null {
  return reader.select().from(recordings).where(eq(recordings.rerunOf, recordingId)).get() ?? null;
}

/** Marks the rerun of a recording as deleted, together with the recording. A server that processes it stops. */
export function deleteRerunOf(writer: Writer, recordingId: string, now: number): void {
  writer.update(recordings).set({ deletedAt: now }).where(eq(recordings.rerunOf, recordingId)).run();
}

/**
 * Makes the transcript of a rerun a revision of its recording, and marks the rerun as deleted, in the transaction that
 * completes it. If the recording is gone, so is the transcript.
 */
export function completeRerun(
  writer: Writer,
  rerun: Recording,
  respelled: readonly respelling.RespelledSegment[],
  now: number,
): void {
  const { id, rerunOf: recordingId, rerunBy } = rerun;
  if (recordingId === null) return;
  const found = { segments: recognizedSegments(writer, id), facts: readFacts(writer, id) };
  const by = { author: rerunBy ?? "", editor: id, now };
  const numbers = applyRerun(writer, recordingId, found, by);
  if (numbers !== null) {
    applyRespelling(writer, recordingId, respelled, { editor: id, now }, true);
    moveVoices(writer, id, recordingId, numbers);
    moveTranslation(writer, rerun, recordingId, numbers);
    // The new texts are indexed, as at the first end.
    storeEnd(writer, recordingId, "completed", now);
  }
  writer.update(recordings).set({ deletedAt: now, rerunOf: null }).where(eq(recordings.id, id)).run();
}

/**
 * Replaces the translation of a recording with that of its rerun. If the rerun was not translated, the recording has none
 * any more: its former one would not fit the new transcript.
 */
function moveTranslation(
  writer: Writer,
  { id, isTranslated }: Recording,
  recordingId: string,
  numbers: ReadonlyMap<number, number>,
): void {
  const { translatedSegments } = tables;
  writer.delete(translatedSegments).where(eq(translatedSegments.recordingId, recordingId)).run();
  const { speaker } = translatedSegments;
  const cases = [...numbers].map(([from, to]) => sql`WHEN ${from} THEN ${to}`);
  writer
    .update(translatedSegments)
    .set({
      recordingId,
      ...(cases.length > 0 && { speaker: sql`CASE ${speaker} ${sql.join(cases, sql` `)} ELSE ${speaker} END` }),
    })
    .where(eq(translatedSegments.recordingId, id))
    .run();
  writer.update(recordings).set({ isTranslated }).where(eq(recordings.id, recordingId)).run();
}

/** Moves the voices of a rerun's speakers to its recording, where they replace those of the same speakers. */
function moveVoices(writer: Writer, from: string, to: string, numbers: ReadonlyMap<number, number>): void {
  for (const voice of writer.select().from(speakerVoices).where(eq(speakerVoices.recordingId, from)).all()) {
    const speaker = numbers.get(voice.speaker);
    if (speaker === undefined) continue;
    const target = [speakerVoices.recordingId, speakerVoices.speaker];
    const { model, seconds, embedding } = voice;
    writer
      .insert(speakerVoices)
      .values({ ...voice, recordingId: to, speaker })
      .onConflictDoUpdate({ target, set: { model, seconds, embedding } })
      .run();
  }
}
