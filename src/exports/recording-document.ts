import { allSegmentsWithWords, type Recording, speakerLabel, speakersOf } from "../recordings/index.ts";
import type { Store } from "../storage/index.ts";
import type { ExportDocument } from "./document.ts";

/**
 * Builds the export document of a completed recording.
 * @param names display names of some speakers, which replace their letters
 */
export function recordingDocument(
  store: Store,
  recording: Recording,
  names: ReadonlyMap<number, string> = new Map(),
): ExportDocument {
  return {
    id: recording.id,
    title: null,
    name: recording.sourceName,
    createdAt: recording.createdAt,
    durationSeconds: recording.durationSeconds ?? 0,
    language: recording.language,
    speakers: speakersOf(store, recording.id).map((speaker) => names.get(speaker) ?? speakerLabel(speaker)),
    segments: allSegmentsWithWords(store, recording.id),
  };
}
