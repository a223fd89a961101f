import { type Static, Type } from "@sinclair/typebox";
import { type AnyElysia, Elysia } from "elysia";
import { timestamp } from "../../../api-contract/index.ts";
import { ExportQueue } from "../../../exports/index.ts";
import { PageFiller, readQuery } from "../../../http/index.ts";
import { corrections, speakerLabel, type Transcript } from "../../../recordings/index.ts";
import {
  type Changes,
  type Compared,
  type Comparison,
  changesSchema,
  comparisonSchema,
  correctedSchema,
  correctionRequestSchema,
  type ReplacementPage,
  replacementPageSchema,
  revisionPageSchema,
} from "../../contract/index.ts";
import { addRoute } from "../add-route.ts";
import { readBody } from "../read-body.ts";
import { viewerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { showAuthor } from "../show-recording.ts";
import { matchingSegments, showSegment } from "./transcript.ts";

const count = Type.Integer({ minimum: 0, maximum: 1_000_000_000, description: "a whole number" });
const changesQuery = Type.Object({ seen: count, editor: correctionRequestSchema.properties.editor });
type Seen = Static<typeof changesQuery>;
const revisionsQuery = Type.Object({ before: Type.Optional(count) });
const comparisonQuery = Type.Object({ revision: count, after: Type.Optional(count) });
const { find, replacement } = corrections.replacementSchema.properties;
const flag = Type.Boolean({ default: false, description: "true or false" });
const replacementsQuery = Type.Object({
  find,
  replacement,
  matches_case: flag,
  whole_words: flag,
  after: Type.Optional(count),
});

/** Number of revisions, differences and replacements in a response. */
const PAGE_SIZE = 100;

/**
 * Creates the routes that correct a transcript, and show and compare its revisions.
 * @param searches runs searches of whole transcripts
 * @param onReplaced called with a recording whose whole transcript may be another one, which is not indexed yet
 */
export function correctionRoutes(
  { library, store }: ConsoleServices,
  searches: ExportQueue,
  onReplaced: (recordingId: string) => void,
): AnyElysia {
  const transcriptFor = (request: Request, id: string) => library.transcript(viewerOf(request, store), id);
  const changesFor = (request: Request, id: string, { seen, editor }: Seen) => {
    const viewer = viewerOf(request, store);
    const transcript = library.transcript(viewer, id);
    const changes = transcript.changesAfter(seen, { author: viewer.actor, editor });
    return showChanges(transcript, changes, (author) => showAuthor(store, author, viewer));
  };
  // A comparison has two states of a whole transcript in memory.
  const comparisons = new ExportQueue(1);
  const routes = new Elysia({ name: "console-corrections", prefix: "/recordings/:id" });

  addRoute(routes, "POST /corrections", { 200: correctedSchema }, async (request, id) => {
    const { correction, shown, ...from } = await readBody(request, correctionRequestSchema);
    const corrected = library.correct(viewerOf(request, store), id, correction, from);
    if (correction.action === "restore" || correction.action === "revert") onReplaced(id);
    return { ...corrected, ...changesFor(request, id, { seen: shown, editor: from.editor }) };
  });

  addRoute(routes, "GET /changes", { 200: changesSchema }, (request, id) =>
    changesFor(request, id, readQuery(request, changesQuery)),
  );

  addRoute(routes, "GET /revisions", { 200: revisionPageSchema }, (request, id) => {
    const { before = null } = readQuery(request, revisionsQuery);
    const viewer = viewerOf(request, store);
    const revisions = library.transcript(viewer, id).revisions(before, PAGE_SIZE + 1);
    const { entries, last } = PageFiller.fill(revisions, PAGE_SIZE, ({ number, author, at, action, segments }) => ({
      ...{ number, action, segments },
      author: showAuthor(store, author, viewer),
      at: timestamp(at),
    }));
    return { revisions: entries, next_before: last?.number ?? null };
  });

  addRoute(routes, "GET /comparison", { 200: comparisonSchema }, async (request, id) => {
    const { revision, after = 0 } = readQuery(request, comparisonQuery);
    const compare = async () => {
      // Both are of the same moment: others may correct the transcript until the comparison is complete.
      const speakers = transcriptFor(request, id).speakerNumbers();
      return { speakers, compared: await library.compare(viewerOf(request, store), id, revision) };
    };
    const { speakers, compared } = await comparisons.run(viewerOf(request, store).actor, compare, request.signal);
    return showComparison(compared, speakers, after);
  });

  addRoute(routes, "GET /replacements", { 200: replacementPageSchema }, (request, id) => {
    const { after = 0, ...wanted } = readQuery(request, replacementsQuery);
    const find = () => findReplacements(transcriptFor(request, id), wanted, after);
    return searches.run(viewerOf(request, store).actor, find, request.signal);
  });

  return routes;
}

function showChanges(
  transcript: Transcript,
  { splices, authors }: corrections.LaterChanges,
  show: (author: string) => string,
): Changes {
  const numbers = transcript.speakerNumbers();
  return {
    revision: transcript.revision,
    splices:
      splices?.map(({ index, removed, inserted }) => ({
        index,
        removed: removed.length,
        segments: inserted.map((segment, place) =>
          showSegment({
            ...segment,
            index: index + place,
            speaker: numbers.indexOf(segment.speaker),
            words: JSON.parse(segment.words),
          }),
        ),
      })) ?? null,
    authors: authors.map(show),
  };
}

function showComparison(compared: corrections.Comparison, numbers: readonly number[], after: number): Comparison {
  const { differences, speakersBefore } = compared;
  const show = (segments: (typeof differences)[number]["before"], speakers: readonly number[]): Compared[] =>
    segments.map(({ startMilliseconds, speaker, text }) => ({
      start: startMilliseconds / 1000,
      speaker: speakerLabel(speakers.indexOf(speaker)),
      text,
    }));
  const { entries } = PageFiller.fill(differences.slice(after), PAGE_SIZE, (difference) => ({
    index: difference.index,
    before: show(difference.before, speakersBefore),
    after: show(difference.after, numbers),
  }));
  const next = after + entries.length;
  return { differences: entries, total: differences.length, next_after: next < differences.length ? next : null };
}

/**
 * Finds the segments that a replacement changes, and counts them in the whole transcript. The replacement would be
 * refused if one of its segments became too long, so this is, too.
 * @throws {CorrectionError} `text_too_long`
 */
async function findReplacements(
  transcript: Transcript,
  wanted: corrections.Replacement,
  after: number,
): Promise<ReplacementPage> {
  const marksIn = (text: string) => {
    const marks = corrections.placesToReplace(text, wanted);
    corrections.requireShort(text, wanted, marks);
    return marks;
  };
  const found = await matchingSegments(
    transcript,
    marksIn,
    ({ id, index, startMilliseconds, text }, marks) => ({
      ...{ id, index, start: startMilliseconds / 1000, before: text, marks },
      after: corrections.replaceIn(text, wanted, marks),
    }),
    { after, limit: PAGE_SIZE },
  );
  return { replacements: found.entries, total: found.segments, next_after: found.next };
}
