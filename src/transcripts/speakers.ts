import { and, eq, isNull } from "drizzle-orm";
import { type Store, tables, transact } from "../database/index.ts";

/** Returns the speaker with this public name: `A` is 0, `Z` is 25, `AA` is 26. */
export function speakerIndex(label: string): number {
  return [...label].reduce((index, letter) => (index + 1) * 26 + letter.charCodeAt(0) - 65, -1);
}

/** Returns a speaker's public name: `A` … `Z`, `AA` … */
export function speakerLabel(speaker: number): string {
  let label = "";
  for (let rest = speaker; rest >= 0; rest = Math.floor(rest / 26) - 1) {
    label = String.fromCharCode(65 + (rest % 26)) + label;
  }
  return label;
}

/** Returns the names that users gave to a recording's speakers, by the speaker's number. */
export function readSpeakerNames(store: Store, recordingId: string): Map<number, string> {
  const { speakerNames } = tables;
  const rows = store.select().from(speakerNames).where(eq(speakerNames.recordingId, recordingId)).all();
  return new Map(rows.map(({ speaker, name }) => [speaker, name]));
}

/**
 * Renames speakers; an empty name removes the custom name. The transcript that the API serves does not change.
 * @returns false if the recording no longer exists
 */
export function renameSpeakers(store: Store, recordingId: string, names: ReadonlyMap<number, string>): boolean {
  const { recordings, speakerNames } = tables;
  return transact(store, (transaction) => {
    const isThere = and(eq(recordings.id, recordingId), isNull(recordings.deletedAt));
    if (transaction.select({ id: recordings.id }).from(recordings).where(isThere).get() === undefined) return false;
    for (const [speaker, name] of names) {
      const row = { recordingId, speaker, name };
      const target = [speakerNames.recordingId, speakerNames.speaker];
      if (name !== "") transaction.insert(speakerNames).values(row).onConflictDoUpdate({ target, set: { name } }).run();
      else {
        const isIt = and(eq(speakerNames.recordingId, recordingId), eq(speakerNames.speaker, speaker));
        transaction.delete(speakerNames).where(isIt).run();
      }
    }
    return true;
  });
}
