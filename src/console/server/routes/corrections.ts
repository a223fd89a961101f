import { timestamp } from "../../../api-contract/index.ts";
import { ExportQueue } from "../../../exports/index.ts";
import { PageFiller } from "../../../http/index.ts";
import {
  type LaterChanges,
  occurrences,
  type Replacement,
  speakerLabel,
  type Transcript,
  type Comparison as TranscriptComparison,
} from "../../../transcripts/index.ts";
import type { Changes, Compared, Comparison, correctionRoutes, ReplacementPage } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { readerOf, type SignedIn } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";
import { showAuthor } from "../show-recording.ts";
import { matchingSegments, showSegment } from "./transcript.ts";

/** Number of revisions, differences and replacements in a response. */
const PAGE_SIZE = 100;

/**
 * Creates the handlers that correct a transcript, and show and compare its revisions.
 * @param searches runs searches of whole transcripts
 * @param onReplaced called with a recording whose whole transcript may be another one, which is not indexed yet
 */
export function correctionHandlers(
  { library, store }: ConsoleServices,
  searches: ExportQueue,
  onReplaced: (recordingId: string) => void,
): Handlers<typeof correctionRoutes> {
  const changesFor = (viewer: SignedIn, id: string, { seen, editor }: { seen: number; editor: string }) => {
    const transcript = library.transcript(viewer, id);
    const changes = transcript.changesAfter(seen, { author: viewer.actor, editor });
    // Pages ask again and again, mostly without an answer that has text.
    if (changes.splices !== null && changes.splices.length > 0)
      library.reads.viewed(readerOf(viewer), [transcript.recording]);
    return showChanges(transcript, changes, (author) => showAuthor(store, author, viewer));
  };
  // A comparison has two states of a whole transcript in memory.
  const comparisons = new ExportQueue(1);
  return {
    correct({ id, body: { correction, shown, ...from }, viewer }) {
      const corrected = library.revisions.correct(viewer(), id, correction, from);
      if (correction.action === "restore" || correction.action === "revert") onReplaced(id);
      return { ...corrected, ...changesFor(viewer(), id, { seen: shown, editor: from.editor }) };
    },

    changes: ({ id, query, viewer }) => changesFor(viewer(), id, query),

    revisions({ id, query: { before = null }, viewer }) {
      const person = viewer();
      const revisions = library.transcript(person, id).revisions(before, PAGE_SIZE + 1);
      const { entries, last } = PageFiller.fill(revisions, PAGE_SIZE, ({ number, author, at, action, segments }) => ({
        ...{ number, action, segments },
        author: showAuthor(store, author, person),
        at: timestamp(at),
      }));
      return { revisions: entries, next_before: last?.number ?? null };
    },

    async comparison({ request, id, query: { revision, after }, viewer }) {
      const compare = async () => {
        // Both are of the same moment: others may correct the transcript until the comparison is complete.
        const transcript = library.transcript(viewer(), id);
        library.reads.viewed(readerOf(viewer()), [transcript.recording]);
        const speakers = transcript.speakerNumbers();
        return { speakers, compared: await library.revisions.compare(viewer(), id, revision) };
      };
      const { speakers, compared } = await comparisons.run(viewer().actor, compare, request.signal);
      return showComparison(compared, speakers, after);
    },

    replacements({ request, id, query: { after, ...wanted }, viewer }) {
      const find = () => {
        const transcript = library.transcript(viewer(), id);
        library.reads.viewed(readerOf(viewer()), [transcript.recording]);
        return findReplacements(transcript, wanted, after);
      };
      return searches.run(viewer().actor, find, request.signal);
    },
  };
}

function showChanges(
  transcript: Transcript,
  { splices, authors }: LaterChanges,
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

function showComparison(compared: TranscriptComparison, numbers: readonly number[], after: number): Comparison {
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
async function findReplacements(transcript: Transcript, wanted: Replacement, after: number): Promise<ReplacementPage> {
  const marksIn = (text: string) => {
    const marks = occurrences.placesToReplace(text, wanted);
    occurrences.requireShort(text, wanted, marks);
    return marks;
  };
  const found = await matchingSegments(
    transcript,
    marksIn,
    ({ id, index, startMilliseconds, text }, marks) => ({
      ...{ id, index, start: startMilliseconds / 1000, before: text, marks },
      after: occurrences.replaceIn(text, wanted, marks),
    }),
    { after, limit: PAGE_SIZE },
  );
  return { replacements: found.entries, total: found.segments, next_after: found.next };
}
