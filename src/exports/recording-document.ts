import type { Store } from "../storage/index.ts";
import { type Recording, readWholeSegments, speakerLabel, speakersOf } from "../transcriptions/index.ts";
import type { ExportDocument } from "./document.ts";

/** A completed recording as it is exported. */
export function recordingDocument(store: Store, recording: Recording): ExportDocument {
  return {
    title: null,
    name: recording.sourceName,
    createdAt: recording.createdAt,
    durationSeconds: recording.durationSeconds ?? 0,
    language: recording.language,
    speakers: speakersOf(store, recording.id).map(speakerLabel),
    segments: readWholeSegments(store, recording.id),
  };
}
