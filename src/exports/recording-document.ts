import { type RecordingText, speakerLabel } from "../transcripts/index.ts";
import type { ExportDocument, ExportLayout } from "./document.ts";

/**
 * Builds the export document of a completed recording: of its translation, or of the latest revision of its transcript.
 * @param hasNames whether the names of speakers that have one replace their letters, unless the layout chooses
 */
export function recordingDocument(text: RecordingText, hasNames = false, layout?: ExportLayout): ExportDocument {
  const { recording } = text;
  const isNamed = layout?.speakers === undefined ? hasNames : layout.speakers === "names";
  const names: ReadonlyMap<number, string> = isNamed ? text.speakerNames() : new Map();
  return {
    id: recording.id,
    title: null,
    name: recording.sourceName,
    createdAt: recording.createdAt,
    durationSeconds: recording.durationSeconds ?? 0,
    language: text.language,
    speakers: text.speakerNumbers().map((_, speaker) => names.get(speaker) ?? speakerLabel(speaker)),
    segments: text.allSegments(),
    ...(layout === undefined ? {} : { layout }),
  };
}
