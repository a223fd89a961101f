import { Elysia } from "elysia";
import { type ExportFormat, exportFormats } from "../../exports/index.ts";
import { readQuery } from "../../http/index.ts";
import {
  readSegmentsWithWords,
  readSpeakerNames,
  renameSpeakers,
  speakerIndex,
  speakersOf,
} from "../../recordings/index.ts";
import { recordingSchema } from "../contract/recordings.ts";
import { findSchema, outlineSchema, renameSchema, segmentPageSchema } from "../contract/transcript.ts";
import { ConsoleError } from "../errors.ts";
import { findInTranscript } from "../find-in-transcript.ts";
import { findQuery, segmentsQuery } from "../queries.ts";
import { readBody } from "../read-body.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { requireCompleted } from "../require-recording.ts";
import type { ConsoleServices } from "../services.ts";
import { showSegment } from "../show-segment.ts";

/** Creates the routes for a transcript: its segments, the text search in it, its speakers' names and its exports. */
export function transcriptRoutes({ store, recordings, exports }: ConsoleServices, facts: RecordingFacts) {
  return new Elysia({ name: "console-transcript", prefix: "/recordings/:id" })
    .get(
      "/segments",
      ({ request, params }) => {
        const { after, limit } = readQuery(request, segmentsQuery);
        const { id } = requireCompleted(recordings, params.id);
        return { segments: readSegmentsWithWords(store, id, Number(after) + 1, limit).map(showSegment) };
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
    .get("/exports/:format", ({ request, params }) => {
      const recording = requireCompleted(recordings, params.id);
      const { format } = params;
      if (!isFormat(format)) throw new ConsoleError("not_found", "There is no export of that kind.");
      const speakerNames = readSpeakerNames(store, recording.id);
      return exports.answer({ request, owner: "console", recording, format, speakerNames });
    });
}

function isFormat(text: string): text is ExportFormat {
  return Object.hasOwn(exportFormats, text);
}
