import { setImmediate as nextTick } from "node:timers/promises";
import { Value } from "@sinclair/typebox/value";
import { type ExportQueue, exportFormatSchema } from "../../../exports/index.ts";
import { PageFiller } from "../../../http/index.ts";
import { findAll } from "../../../search/index.ts";
import type { SegmentWithWords, StoredSegment } from "../../../segments/index.ts";
import { cleanText } from "../../../text/index.ts";
import { placeWords, speakerLabel, type Transcript } from "../../../transcripts/index.ts";
import type { Voices } from "../../../voices/index.ts";
import type { Find, Mark, Segment, transcriptRoutes, Word } from "../../contract/index.ts";
import type { Handlers } from "../data-routes.ts";
import { ConsoleError } from "../errors.ts";
import type { RecordingFacts } from "../recording-facts.ts";
import { readerOf } from "../request-session.ts";
import type { ConsoleServices } from "../services.ts";

/** Number of segments in an outline, each of which takes up to 35 bytes. */
const OUTLINE_SEGMENTS = 50_000;

/**
 * Creates the handlers for a transcript: its segments, the text search in it, its speakers' names and its exports.
 * @param searches runs searches of whole transcripts
 */
export function transcriptHandlers(
  { library, exports }: ConsoleServices,
  facts: RecordingFacts,
  voices: Voices,
  searches: ExportQueue,
): Handlers<typeof transcriptRoutes> {
  return {
    segments({ id, query: { after, limit }, viewer }) {
      const transcript = library.transcript(viewer(), id);
      library.reads.viewed(readerOf(viewer()), [transcript.recording]);
      const { entries } = PageFiller.fill(transcript.wordsFrom(Number(after) + 1), limit, showSegment);
      return { revision: transcript.revision, segments: entries };
    },

    async outline({ id, query: { after }, viewer }) {
      const transcript = library.transcript(viewer(), id);
      const { revision } = transcript;
      const outline = await facts.outline(transcript);
      const end = after + OUTLINE_SEGMENTS;
      return {
        revision,
        start_milliseconds: outline.startMilliseconds.slice(after, end),
        end_milliseconds: outline.endMilliseconds.slice(after, end),
        speaker: outline.speakers.slice(after, end),
        characters: outline.characters.slice(after, end),
        next_after: end < outline.speakers.length ? end : null,
      };
    },

    find({ request, id, query, viewer }) {
      const find = () => {
        const transcript = library.transcript(viewer(), id);
        library.reads.viewed(readerOf(viewer()), [transcript.recording]);
        return findInTranscript(transcript, query);
      };
      return searches.run(viewer().actor, find, request.signal);
    },

    nameSpeakers({ id, body: { names }, viewer }) {
      const person = viewer();
      const transcript = library.transcript(person, library.requireChangeable(person, id));
      const numbers = transcript.speakerNumbers();
      const renamed = Object.entries(names).map(([key, name]): [number, string] => {
        const number = Number(key);
        if (numbers.includes(number)) return [number, cleanText(name)];
        throw new ConsoleError("validation_failed", "The recording has no such speaker.", { field: "names" });
      });
      const before = transcript.namesByNumber();
      transcript.rename(new Map(renamed));
      voices.renamed(transcript, before);
      return facts.show(person, transcript.recording);
    },

    translation({ id, query: { after, limit }, viewer }) {
      const translation = library.translation(viewer(), library.require(viewer(), id));
      library.reads.viewed(readerOf(viewer()), [translation.recording]);
      const { entries, next } = PageFiller.fill(translation.segmentsFrom(after), limit, (segment) => ({
        index: segment.index,
        start: segment.startMilliseconds / 1000,
        speaker: segment.speaker,
        text: segment.text,
      }));
      return { segments: entries, next_after: next?.index ?? null };
    },

    exportTranscript({ request, id, format, query: { text }, viewer }) {
      const { actor } = viewer();
      const transcript =
        text === "translation"
          ? library.translation(viewer(), library.require(viewer(), id))
          : library.transcript(viewer(), id);
      if (!Value.Check(exportFormatSchema, format)) {
        throw new ConsoleError("not_found", "There is no such export format.");
      }
      // One person's slow downloads make nobody else wait.
      library.reads.exported(readerOf(viewer()), transcript.recording, format);
      return exports.answer({ request, owner: actor, transcript, format, hasNames: true });
    },
  };
}

/** Finds a text in a transcript, from segment `after` on, and counts all occurrences in the whole transcript. */
async function findInTranscript(
  transcript: Transcript,
  { q, after, limit }: { readonly q: string; readonly after: number; readonly limit: number },
): Promise<Find> {
  const found = await matchingSegments(
    transcript,
    (text) => findAll(text, q),
    (segment, marks) => ({ segment: segment.index, start: segment.startMilliseconds / 1000, marks }),
    { after, limit },
  );
  return { matches: found.entries, total: found.marks, next_after: found.next };
}

/** The segments of a transcript in which something is found. */
interface MatchingSegments<Entry> {
  /** Some of them. */
  readonly entries: Entry[];
  /** Index of the first one behind the page; null if there is none. */
  readonly next: number | null;
  /** Numbers of segments and of ranges in the whole transcript. */
  readonly segments: number;
  readonly marks: number;
}

/** Number of segments that are searched at once. Each may have 20,000 characters. */
const BATCH_ROWS = 100;

/**
 * Finds ranges in the texts of a transcript. Searching days of speech takes a few tenths of a second, so the loop yields
 * to other requests between batches.
 * @param show returns the entry of a segment and its ranges
 * @param page index of the first segment that the page may have, and its maximum number of segments
 */
export async function matchingSegments<Entry>(
  transcript: Transcript,
  marksIn: (text: string) => Mark[],
  show: (segment: StoredSegment, marks: Mark[]) => Entry,
  page: { readonly after: number; readonly limit: number },
): Promise<MatchingSegments<Entry>> {
  const filling = new PageFiller<Entry>(page.limit);
  const found = { segments: 0, marks: 0 };
  let next: number | null = null;
  for (let from = 0; ; from += BATCH_ROWS) {
    const rows = transcript.segments(from, BATCH_ROWS);
    for (const segment of rows) {
      const marks = marksIn(segment.text);
      if (marks.length === 0) continue;
      found.segments += 1;
      found.marks += marks.length;
      if (next !== null || segment.index < page.after) continue;
      if (filling.isFull || !filling.add(show(segment, marks))) next = segment.index;
    }
    if (rows.length < BATCH_ROWS) return { entries: filling.entries, next, ...found };
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
    is_speaker_uncertain: segment.isSpeakerUncertain,
    text,
    words: placeWords(text, words).map(({ word, from, to }): Word => {
      const [, start, end, probability, isCalibrated] = word;
      return [from, to, start / 1000, end / 1000, isCalibrated === false ? null : probability];
    }),
  };
}
