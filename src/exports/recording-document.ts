import { speakerLabel, type Transcript } from "../recordings/index.ts";
import type { ExportDocument } from "./document.ts";

/**
 * Builds the export document of a completed recording.
 * @param names display names of some speakers, which replace their letters
 */
export function recordingDocument(
  transcript: Transcript,
  names: ReadonlyMap<number, string> = new Map(),
): ExportDocument {
  const { recording } = transcript;
  return {
    id: recording.id,
    title: null,
    name: recording.sourceName,
    createdAt: recording.createdAt,
    durationSeconds: recording.durationSeconds ?? 0,
    language: recording.language,
    speakers: transcript.speakers().map((speaker) => names.get(speaker) ?? speakerLabel(speaker)),
    segments: transcript.allSegments(),
  };
}
