import { type Chunk, OverlapFinder, type Span, SpeechClock, secondsOf, transcribedSpans } from "../timeline/index.ts";

/**
 * Packs a recording's speech into chunks for the recognizer. @param regions in order and disjoint
 * @param joinsTurns whether a chunk may continue after a long silence, of which the recognizer then gets only both
 *   ends. On one side of a call the other person speaks in such silences; chunks that ended there would be many and
 *   short.
 */
export function planChunks(regions: readonly Span[], totalSeconds: number, joinsTurns: boolean): Chunk[] {
  const chunks = joinsTurns ? packJoined(regions, totalSeconds) : packChunks(regions, totalSeconds);
  const reaching = new OverlapFinder(regions);
  return chunks.map((chunk) => ({ ...chunk, speech: reaching.overlapping(chunk) }));
}

/**
 * Returns the first chunks of a recording's plan before all of its speech is known: those that no further region can
 * change. Every chunk but the last ends because of a known region. The last is final if the silence after it is already
 * too long to continue it. Each end of a chunk depends on the next region alone, so that the padding is final, too.
 *
 * Not for chunks that continue over long silences: their last one never ends before the recording does.
 * @param regions the first regions of the recording, in order and disjoint
 * @param knownSeconds moment at which or after which every further region starts
 */
export function planFinalChunks(regions: readonly Span[], knownSeconds: number, totalSeconds: number): Chunk[] {
  const chunks = planChunks(regions, totalSeconds, false);
  const silence = knownSeconds - (regions.at(-1)?.endSeconds ?? 0);
  return silence > MAX_GAP_SECONDS + ROUNDING_SECONDS ? chunks : chunks.slice(0, -1);
}

/** Packs by a clock that stands still in the middle of long silences. */
function packJoined(regions: readonly Span[], totalSeconds: number): Span[] {
  const whole = { startSeconds: 0, endSeconds: totalSeconds };
  const clock = new SpeechClock(transcribedSpans({ ...whole, speech: [...regions] }), whole);
  const joined = regions.map(({ startSeconds, endSeconds }) => ({
    startSeconds: clock.at(startSeconds),
    endSeconds: clock.at(endSeconds),
  }));
  return packChunks(joined, clock.totalSeconds, { maxGapSeconds: Number.POSITIVE_INFINITY }).map((chunk) => ({
    startSeconds: clock.recordingTime(chunk.startSeconds),
    endSeconds: clock.recordingTime(chunk.endSeconds),
  }));
}

/** Maximum length of a chunk including its padding: the length of the recognizer's input window. */
const MAX_SECONDS = 30;
/** Padding before and after speech, if there is space for it. */
const PADDING_SECONDS = 0.2;
/** Longest silence inside a chunk, unless the caller passes another value. A longer silence starts a new chunk. */
const MAX_GAP_SECONDS = 2;
/** Tolerance for rounding where a silence is compared with the longest one before the next region is known. */
const ROUNDING_SECONDS = 1e-6;

/** Share of the maximum length from which a chunk may end at its longest silence instead of its last one. */
const FULL_ENOUGH = 2 / 3;

/**
 * Packs speech into chunks that are as long as possible and end at silences. Chunks are in order, do not overlap, and
 * each is one span of the recording.
 */
export function packChunks(
  regions: readonly Span[],
  totalSeconds: number,
  { maxGapSeconds = MAX_GAP_SECONDS } = {},
): Span[] {
  const longest = MAX_SECONDS - 2 * PADDING_SECONDS;
  const speech = regions.flatMap((region) => divide(region, longest));
  const chunks: Span[] = [];
  let first = 0;
  while (first < speech.length) {
    const end = chunkEnd(speech, first, longest, maxGapSeconds);
    const startSeconds = speech[first]?.startSeconds ?? 0;
    const endSeconds = speech[end - 1]?.endSeconds ?? 0;
    chunks.push({ startSeconds, endSeconds });
    first = end;
  }
  return pad(chunks, totalSeconds);
}

/** Returns the index after the last region of the chunk that begins with region `first`. */
function chunkEnd(speech: readonly Span[], first: number, longest: number, maxGap: number): number {
  const start = speech[first]?.startSeconds ?? 0;
  let end = first + 1;
  let bestEnd = end;
  let bestGap = -1;
  for (; end < speech.length; end++) {
    const gap = (speech[end]?.startSeconds ?? 0) - (speech[end - 1]?.endSeconds ?? 0);
    if (gap > maxGap) return end;
    const length = (speech[end - 1]?.endSeconds ?? 0) - start;
    if (length >= longest * FULL_ENOUGH && gap >= bestGap) {
      bestGap = gap;
      bestEnd = end;
    }
    if ((speech[end]?.endSeconds ?? 0) - start > longest) return bestGap < 0 ? end : bestEnd;
  }
  return end;
}

function divide(region: Span, longest: number): Span[] {
  const length = secondsOf(region);
  const parts = Math.max(1, Math.ceil(length / longest));
  return Array.from({ length: parts }, (_, part) => ({
    startSeconds: region.startSeconds + (length * part) / parts,
    endSeconds: region.startSeconds + (length * (part + 1)) / parts,
  }));
}

function pad(chunks: readonly Span[], totalSeconds: number): Span[] {
  return chunks.map((chunk, index) => {
    const before = chunks[index - 1]?.endSeconds;
    const after = chunks[index + 1]?.startSeconds;
    const roomBefore = before === undefined ? chunk.startSeconds : (chunk.startSeconds - before) / 2;
    const roomAfter = after === undefined ? totalSeconds - chunk.endSeconds : (after - chunk.endSeconds) / 2;
    return {
      startSeconds: chunk.startSeconds - Math.max(0, Math.min(PADDING_SECONDS, roomBefore)),
      endSeconds: chunk.endSeconds + Math.max(0, Math.min(PADDING_SECONDS, roomAfter)),
    };
  });
}
