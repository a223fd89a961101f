import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect } from "preact/hooks";
import type { Mark, Outline, RecordingDetail, Segment } from "../../../console/contract.ts";
import { directionOf } from "../../format.ts";
import { Problem } from "../../parts/index.ts";
import { strings } from "../../strings.ts";
import type { Match } from "../find.tsx";
import { beginsTurn, wordAtCharacter } from "../places.ts";
import type { Playback } from "../player/playback.ts";
import { type UsedRows, useVirtualRows } from "../rows/virtual-rows.ts";
import { characterAt, highlight, layers, partOf, rangesIn } from "./highlights.ts";
import { type SegmentPages, useSegments } from "./segment-pages.ts";
import { estimateHeights, SegmentRow } from "./segment-row.tsx";
import { useFollowing, useFollowState } from "./use-following.ts";

/** Actions that other components can call on the transcript. */
export interface TranscriptActions {
  /** Scrolls to a place and stops following the playback. */
  show(segment: number, mark: Mark): void;
  /** Follows the playback again. */
  follow(): void;
  /** Returns a segment; null if it is not loaded yet. */
  segment(index: number): Segment | null;
}

interface TranscriptProps {
  readonly recording: RecordingDetail;
  readonly outline: Outline;
  readonly playback: Playback;
  /** Matches of the search by segment, and the current match. */
  readonly found: ReadonlyMap<number, readonly Mark[]>;
  readonly match: Match | null;
  readonly showsDoubt: boolean;
  /** Set to the actions once they are available. */
  readonly actions: RefObject<TranscriptActions | null>;
}

const marked = ["doubtful", "found", "found-now"] as const;

/** Renders the visible part of the transcript, and follows the playback word by word. */
export function Transcript(props: TranscriptProps) {
  const { recording, outline, playback, found, match, showsDoubt, actions } = props;
  const following = useFollowState();
  const { follow, unfollow } = following;
  const estimate = useCallback(
    (width: number) => estimateHeights(outline, width, recording.language),
    [outline, recording.language],
  );
  const { list, rows, range, onRow } = useVirtualRows(estimate, unfollow);
  const { segments, problem, retry } = useSegments(recording.id);
  segments.load(range.first, range.last);
  const { playing, mark, scrollBack } = useFollowing({ playback, outline, segments, rows }, following.current);
  const play = useCallback(
    (seconds: number) => {
      follow();
      playback.play(seconds);
    },
    [follow, playback],
  );
  useClicks(list, segments, play);

  useEffect(() => {
    actions.current = {
      show: (segment, shown) => {
        unfollow();
        rows.current?.scrollTo(segment, (row) => partOf(row, shown));
      },
      follow,
      segment: (index) => segments.get(index),
    };
  }, [actions, follow, unfollow, rows, segments]);

  const marksOf = (index: number): Record<(typeof marked)[number] | "playing", readonly Mark[]> => ({
    doubtful: showsDoubt ? doubtsIn(segments.get(index), recording.doubt_below) : [],
    found: found.get(index) ?? [],
    "found-now": match?.segment === index ? [match.mark] : [],
    playing: playing?.segment === index ? [playing.mark] : [],
  });
  useLayoutEffect(() => {
    const shown = [...(rows.current?.rows ?? [])];
    const texts = shown.map(([index, row]) => [index, row.querySelector(".transcribed")] as const);
    for (const layer of marked) {
      const ranges = texts.map(([index, text]) => (text === null ? [] : rangesIn(text, marksOf(index)[layer])));
      highlight(layer, ranges.flat());
    }
    mark();
  });
  useEffect(
    () => () => {
      for (const layer of layers) highlight(layer, []);
    },
    [],
  );

  const shown = Array.from({ length: range.last - range.first + 1 }, (_, offset) => range.first + offset);
  const top = rows.current?.offsetOf(range.first) ?? 0;
  return (
    <div class="transcript">
      <Problem problem={problem} retry={retry} />
      <div ref={list} class="all" dir={directionOf(recording.language)}>
        <ol aria-label={strings.transcript} style={{ transform: `translateY(${top}px)` }}>
          {shown.map((index) => {
            const speakerIndex = outline.speaker[index] ?? 0;
            return (
              <SegmentRow
                key={index}
                {...{ index, speakerIndex, onRow }}
                count={outline.characters.length}
                segment={segments.get(index)}
                speaker={beginsTurn(outline, index) ? (recording.speakers[speakerIndex] ?? null) : null}
                startSeconds={(outline.start_milliseconds[index] ?? 0) / 1_000}
                language={recording.language}
                marked={marksOf(index)}
              />
            );
          })}
        </ol>
      </div>
      {!following.isFollowing && (
        <button
          type="button"
          class="main follow"
          onClick={() => {
            follow();
            scrollBack();
          }}
        >
          {strings.player.follow}
        </button>
      )}
    </div>
  );
}

/** Returns the positions of the words whose probability is comparable and below a limit. */
function doubtsIn(segment: Segment | null, below: number): readonly Mark[] {
  const doubted = segment?.words.filter(([, , , , probability]) => probability !== null && probability < below) ?? [];
  return doubted.map(([from, to]) => [from, to]);
}

/**
 * Calls `onPlace` with the start time when the user clicks a word or a segment's time. Keyboard users have the times,
 * which are buttons, and the shortcuts that move from word to word.
 */
function useClicks(list: UsedRows["list"], segments: SegmentPages, onPlace: (seconds: number) => void): void {
  useEffect(() => {
    const startOf = (text: HTMLElement, event: MouseEvent): number | null => {
      const segment = segments.get(Number(text.closest<HTMLElement>("[data-index]")?.dataset.index));
      const character = characterAt(text, event.clientX, event.clientY);
      if (segment === null || character === null) return null;
      return wordAtCharacter(segment, character)?.[2] ?? segment.start;
    };
    const click = (event: MouseEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const time = target?.closest<HTMLElement>("[data-play]")?.dataset.play;
      const text = target?.closest<HTMLElement>(".transcribed");
      // A user who has selected text wants to copy it.
      const isSelecting = getSelection()?.isCollapsed === false;
      const start = time === undefined ? text && !isSelecting && startOf(text, event) : Number(time);
      if (typeof start === "number") onPlace(start);
    };
    const element = list.current;
    element?.addEventListener("click", click);
    return () => element?.removeEventListener("click", click);
  }, [list, segments, onPlace]);
}
