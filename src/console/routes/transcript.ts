import { setImmediate as nextTick } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type AnyElysia, Elysia } from "elysia";
import { exportFormatSchema } from "../../exports/index.ts";
import { pageSize, readQuery } from "../../http/index.ts";
import {
  corrections,
  findAll,
  type SegmentWithWords,
  type StoredSegment,
  speakerLabel,
  type Transcript,
} from "../../recordings/index.ts";
import { cleanText } from "../../text/index.ts";
import type { Voices } from "../../voices/index.ts";
import { addRoute } from "../add-route.ts";
import { recordingSchema } from "../contract/recordings.ts";
import type { Mark } from "../contract/shared.ts";
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
import { viewerOf } from "../request-session.ts";
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
export function transcriptRoutes(services: ConsoleServices, facts: RecordingFacts, voices: Voices): AnyElysia {
  const { library, exports, store } = services;
  const transcriptFor = (request: Request, id: string) => library.transcript(viewerOf(request, store), id);
  const routes = new Elysia({ name: "console-transcript", prefix: "/recordings/:id" });

  addRoute(routes, "GET /segments", { 200: segmentPageSchema }, (request, id) => {
    const { after, limit } = readQuery(request, segmentsQuery);
    const transcript = transcriptFor(request, id);
    return {
      revision: transcript.revision,
      segments: transcript.segmentsWithWords(Number(after) + 1, limit).map(showSegment),
    };
  });

  addRoute(routes, "GET /outline", { 200: outlineSchema }, async (request, id) => {
    const transcript = transcriptFor(request, id);
    const { revision } = transcript;
    const outline = await facts.outline(transcript);
    return {
      revision,
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
    const viewer = viewerOf(request, store);
    const transcript = library.transcript(viewer, library.requireChangeable(viewer, id));
    const numbers = transcript.speakerNumbers();
    const renamed = Object.entries(names).map(([key, name]): [number, string] => {
      const number = Number(key);
      if (numbers.includes(number)) return [number, cleanText(name)];
      throw new ConsoleError("validation_failed", "The recording has no such speaker.", { field: "names" });
    });
    const before = transcript.namesByNumber();
    transcript.rename(new Map(renamed));
    voices.renamed(transcript, before);
    return facts.show(viewer, transcript.recording);
  });

  return routes.get("/exports/:format", ({ request, params: { id, format } }) => {
    const viewer = viewerOf(request, store);
    const transcript = library.transcript(viewer, id);
    if (!Value.Check(exportFormatSchema, format))
      throw new ConsoleError("not_found", "There is no such export format.");
    // One person's slow downloads make nobody else wait.
    return exports.answer({ request, owner: viewer.actor, transcript, format, hasNames: true });
  });
}

/** Finds a text in a transcript, from segment `after` on, and counts all occurrences in the whole transcript. */
async function findInTranscript(
  transcript: Transcript,
  { q, after, limit }: { readonly q: string; readonly after: number; readonly limit: number },
): Promise<Find> {
  const found = await matchingSegments(transcript, (text) => findAll(text, q), after, limit);
  return {
    matches: found.page.map(({ segment, marks }) => ({
      segment: segment.index,
      start: segment.startMilliseconds / 1000,
      marks,
    })),
    total: found.marks,
    next_after: found.next,
  };
}

/** The segments of a transcript in which something is found. */
interface MatchingSegments {
  /** Some of them, with the ranges in their texts. */
  readonly page: readonly { readonly segment: StoredSegment; readonly marks: Mark[] }[];
  /** Index of the first one behind the page; null if there is none. */
  readonly next: number | null;
  /** Numbers of segments and of ranges in the whole transcript. */
  readonly segments: number;
  readonly marks: number;
}

const BATCH_ROWS = 1000;

/**
 * Finds ranges in the texts of a transcript. Searching days of speech takes a few tenths of a second, so the loop yields
 * to other requests between batches.
 * @param after index of the first segment that the page may have
 * @param limit maximum number of segments of the page
 */
export async function matchingSegments(
  transcript: Transcript,
  marksIn: (text: string) => Mark[],
  after: number,
  limit: number,
): Promise<MatchingSegments> {
  const page: MatchingSegments["page"][number][] = [];
  const found = { segments: 0, marks: 0 };
  let next: number | null = null;
  for (let from = 0; ; from += BATCH_ROWS) {
    const rows = transcript.segments(from, BATCH_ROWS);
    for (const segment of rows) {
      const marks = marksIn(segment.text);
      if (marks.length === 0) continue;
      found.segments += 1;
      found.marks += marks.length;
      if (segment.index < after) continue;
      if (page.length === limit) next ??= segment.index;
      else page.push({ segment, marks });
    }
    if (rows.length < BATCH_ROWS) return { page, next, ...found };
    await nextTick();
  }
}

/** Returns a segment whose words have their positions in the text. Words that are not in the text are left out. */
export function showSegment({ words, text, ...segment }: SegmentWithWords): Segment {
  return {
    id: segment.id,
    index: segment.index,
    start: segment.startMilliseconds / 1000,
    end: segment.endMilliseconds / 1000,
    speaker: speakerLabel(segment.speaker),
    text,
    words: corrections.placeWords(text, words).map(({ word, from, to }): Word => {
      const [, start, end, probability, isCalibrated] = word;
      return [from, to, start / 1000, end / 1000, isCalibrated === false ? null : probability];
    }),
  };
}
