import { speakerLabel, type Transcript } from "../transcripts/index.ts";
import type { ExportDocument, ExportLayout } from "./document.ts";

/**
 * Builds the export document of a completed recording, of the latest revision at this moment.
 * @param hasNames whether the names of speakers that have one replace their letters, unless the layout chooses
 */
export function recordingDocument(transcript: Transcript, hasNames = false, layout?: ExportLayout): ExportDocument {
  const { recording } = transcript;
  const isNamed = layout?.speakers === undefined ? hasNames : layout.speakers === "names";
  const names: ReadonlyMap<number, string> = isNamed ? transcript.speakerNames() : new Map();
  return {
    id: recording.id,
    title: null,
    name: recording.sourceName,
    createdAt: recording.createdAt,
    durationSeconds: recording.durationSeconds ?? 0,
    language: recording.language,
    speakers: transcript.speakerNumbers().map((_, speaker) => names.get(speaker) ?? speakerLabel(speaker)),
    segments: transcript.allSegments(),
    ...(layout === undefined ? {} : { layout }),
  };
}
