import { Elysia } from "elysia";
import { type ExportFormat, exportFormats, exportTranscript, recordingDocument } from "../../exports/index.ts";
import { contentDisposition, readQuery } from "../../http/index.ts";
import {
  readSomeWholeSegments,
  readSpeakerNames,
  renameSpeakers,
  speakerIndex,
  speakersOf,
} from "../../transcriptions/index.ts";
import { findSchema, outlineSchema, recordingSchema, renameSchema, segmentPageSchema } from "../contract.ts";
import { ConsoleError } from "../errors.ts";
import { findInTranscript } from "../find-in-transcript.ts";
import { findQuery, segmentsQuery } from "../queries.ts";
import { readBody } from "../read-body.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { requireCompleted } from "../require-recording.ts";
import type { ConsoleServices } from "../services.ts";
import { showSegment } from "../show-segment.ts";

/** A transcript: its segments and what is found in them, its speakers' names, and the files that are made of both. */
export function transcriptRoutes({ store, recordings, dataDirectory }: ConsoleServices, facts: RecordingFacts) {
  return new Elysia({ name: "console-transcript", prefix: "/recordings/:id" })
    .get(
      "/segments",
      ({ request, params }) => {
        const { after, limit } = readQuery(request, segmentsQuery);
        const { id } = requireCompleted(recordings, params.id);
        return { segments: readSomeWholeSegments(store, id, Number(after) + 1, limit).map(showSegment) };
      },
      { response: { 200: segmentPageSchema } },
    )
    .get(
      "/outline",
      async ({ params }) => {
        const outline = await facts.outline(requireCompleted(recordings, params.id));
        return {
          start_milliseconds: outline.startMilliseconds,
          end_milliseconds: outline.endMilliseconds,
          speaker: outline.speakers,
          characters: outline.characters,
        };
      },
      { response: { 200: outlineSchema } },
    )
    .get(
      "/find",
      ({ request, params }) => {
        const { q, after, limit } = readQuery(request, findQuery);
        return findInTranscript(store, requireCompleted(recordings, params.id).id, { q, after, limit });
      },
      { response: { 200: findSchema } },
    )
    .put(
      "/speakers",
      async ({ request, params }) => {
        const { names } = await readBody(request, renameSchema);
        const recording = requireCompleted(recordings, params.id);
        const there = new Set(speakersOf(store, recording.id));
        const renamed = new Map(Object.entries(names).map(([label, name]) => [speakerIndex(label), name.trim()]));
        if ([...renamed.keys()].some((speaker) => !there.has(speaker))) {
          throw new ConsoleError("validation_failed", "The recording has no such speaker.", { field: "names" });
        }
        renameSpeakers(store, recording.id, renamed);
        return facts.show(requireCompleted(recordings, params.id));
      },
      { parse: "none", response: { 200: recordingSchema } },
    )
    .get("/exports/:format", async ({ request, params }) => {
      const recording = requireCompleted(recordings, params.id);
      if (!isFormat(params.format)) throw new ConsoleError("not_found", "There is no export of that kind.");
      const { mediaType, extension } = exportFormats[params.format];
      const document = recordingDocument(store, recording, readSpeakerNames(store, recording.id));
      const options = { workDirectory: dataDirectory.incoming, signal: request.signal };
      const bytes = await exportTranscript(params.format, document, options);
      // Of one that was deleted meanwhile it is not whole.
      requireCompleted(recordings, recording.id);
      return new Response(new Uint8Array(bytes), {
        headers: {
          "Content-Type": mediaType,
          "Content-Disposition": contentDisposition(recording.sourceName ?? "transcript", extension),
        },
      });
    });
}

function isFormat(text: string): text is ExportFormat {
  return Object.hasOwn(exportFormats, text);
}
