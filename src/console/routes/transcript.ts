import { setImmediate as nextTick } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type AnyElysia, Elysia } from "elysia";
import { exportFormatSchema } from "../../exports/index.ts";
import { pageSize, readQuery } from "../../http/index.ts";
import { findAll, type SegmentWithWords, speakerIndex, speakerLabel, type Transcript } from "../../recordings/index.ts";
import { addRoute } from "../add-route.ts";
import { recordingSchema } from "../contract/recordings.ts";
import {
  type Find,
  findSchema,
  outlineSchema,
  renameSchema,
  type Segment,
  segmentPageSchema,
  type Word,
} from "../contract/transcript.ts";
import { ConsoleError } from "../errors.ts";
import { readBody } from "../read-body.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { operatorOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { searchText } from "./recordings.ts";

const segmentsQuery = Type.Object({
  after: Type.String({
    pattern: "^(-1|0|[1-9]\\d{0,8})$",
    default: "-1",
    description: "the index of a segment, or -1",
  }),
  limit: pageSize({ maximum: 500, default: 200 }),
});

const findQuery = Type.Object({
  q: searchText,
  after: Type.Integer({ minimum: 0, default: 0 }),
  limit: pageSize({ maximum: 1000, default: 200 }),
});

/** Creates the routes for a transcript: its segments, the text search in it, its speakers' names and its exports. */
export function transcriptRoutes(services: ConsoleServices, facts: RecordingFacts): AnyElysia {
  const { library, exports } = services;
  const transcriptFor = (request: Request, id: string) => library.transcript(operatorOf(request), id);
  const routes = new Elysia({ name: "console-transcript", prefix: "/recordings/:id" });

  addRoute(routes, "GET /segments", { 200: segmentPageSchema }, (request, id) => {
    const { after, limit } = readQuery(request, segmentsQuery);
    return {
      segments: transcriptFor(request, id)
        .segmentsWithWords(Number(after) + 1, limit)
        .map(showSegment),
    };
  });

  addRoute(routes, "GET /outline", { 200: outlineSchema }, async (request, id) => {
    const outline = await facts.outline(transcriptFor(request, id));
    return {
      start_milliseconds: outline.startMilliseconds,
      end_milliseconds: outline.endMilliseconds,
      speaker: outline.speakers,
      characters: outline.characters,
    };
  });

  addRoute(routes, "GET /find", { 200: findSchema }, (request, id) => {
    const query = readQuery(request, findQuery);
    return findInTranscript(transcriptFor(request, id), query);
  });

  addRoute(routes, "PUT /speakers", { 200: recordingSchema }, async (request, id) => {
    const { names } = await readBody(request, renameSchema);
    const transcript = transcriptFor(request, id);
    const existing = new Set(transcript.speakers());
    const renamed = new Map(Object.entries(names).map(([label, name]) => [speakerIndex(label), name.trim()]));
    if ([...renamed.keys()].some((speaker) => !existing.has(speaker))) {
      throw new ConsoleError("validation_failed", "The recording has no such speaker.", { field: "names" });
    }
    transcript.rename(renamed);
    return facts.show(operatorOf(request), transcriptFor(request, id).recording);
  });

  return routes.get("/exports/:format", ({ request, params: { id, format } }) => {
    const transcript = transcriptFor(request, id);
    if (!Value.Check(exportFormatSchema, format))
      throw new ConsoleError("not_found", "There is no such export format.");
    const speakerNames = transcript.speakerNames();
    return exports.answer({ request, owner: "console", transcript, format, speakerNames });
  });
}

const BATCH_ROWS = 1000;

/**
 * Finds a text in a transcript, from segment `after` on, and counts all occurrences in the whole transcript. Searching
 * days of speech takes a few tenths of a second, so the loop yields to other requests between batches.
 */
async function findInTranscript(
  transcript: Transcript,
  { q, after, limit }: { readonly q: string; readonly after: number; readonly limit: number },
): Promise<Find> {
  const matches: Find["matches"] = [];
  let total = 0;
  let next: number | null = null;
  for (let from = 0; ; from += BATCH_ROWS) {
    const rows = transcript.segments(from, BATCH_ROWS);
    for (const { index, text, startMilliseconds } of rows) {
      const marks = findAll(text, q);
      total += marks.length;
      if (marks.length === 0 || index < after) continue;
      if (matches.length === limit) next ??= index;
      else matches.push({ segment: index, start: startMilliseconds / 1000, marks });
    }
    if (rows.length < BATCH_ROWS) return { matches, total, next_after: next };
    await nextTick();
  }
}

/** Returns a segment whose words have their positions in the text. Words that are not in the text are left out. */
function showSegment({ words, text, ...segment }: SegmentWithWords): Segment {
  let reached = 0;
  return {
    index: segment.index,
    start: segment.startMilliseconds / 1000,
    end: segment.endMilliseconds / 1000,
    speaker: speakerLabel(segment.speaker),
    text,
    words: words.flatMap(([written, start, end, probability, isCalibrated]): Word[] => {
      const word = written.trim();
      const from = word === "" ? -1 : text.indexOf(word, reached);
      if (from < 0) return [];
      reached = from + word.length;
      return [[from, reached, start / 1000, end / 1000, isCalibrated === false ? null : probability]];
    }),
  };
}
