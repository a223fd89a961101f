import { useCallback, useEffect, useLayoutEffect } from "preact/hooks";
import type { Mark, Outline, RecordingDetail, Segment } from "../../../console/contract.ts";
import { directionOf } from "../../format.ts";
import { Told } from "../../parts/index.ts";
import { strings } from "../../strings.ts";
import type { Found } from "../find.tsx";
import { beginsTurn, wordAtCharacter } from "../places.ts";
import type { Playback } from "../player/playback.ts";
import { type UsedRows, useVirtualRows } from "../rows/virtual-rows.ts";
import { characterAt, highlight, layers, partOf, rangesIn } from "./highlights.ts";
import { type SegmentPages, useSegments } from "./segment-pages.ts";
import { guessHeights, SegmentRow } from "./segment-row.tsx";
import { useFollowing, useFollowState } from "./use-following.ts";

/** Actions that other components can call on the transcript. */
export interface TranscriptActions {
  /** Scrolls to a place and stops following the playback. */
  show(segment: number, mark: Mark | null): void;
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
  readonly place: Found | null;
  readonly showsDoubt: boolean;
  /** Called with the actions once they are available. */
  readonly onActions: (actions: TranscriptActions) => void;
}

const nothing: readonly Mark[] = [];
const marked = ["doubtful", "found", "found-now"] as const;

/** Renders the visible part of the transcript, and follows the playback word by word. */
export function Transcript(props: TranscriptProps) {
  const { recording, outline, playback, found, place, showsDoubt, onActions } = props;
  const following = useFollowState();
  const { follow } = following;
  const guess = useCallback(
    (width: number) => guessHeights(outline, width, recording.language),
    [outline, recording.language],
  );
  const { list, rows, range, onRow } = useVirtualRows(guess, following.leave);
  const { segments, trouble, again } = useSegments(recording.id);
  segments.want(range.first, range.last);
  const { spoken, mark, back } = useFollowing({ playback, outline, segments, rows }, following.current);
  const play = useCallback(
    (seconds: number) => {
      follow(true);
      playback.play(seconds);
    },
    [follow, playback],
  );
  useClicks(list, segments, play);

  useEffect(() => {
    onActions({
      show: (segment, shown) => {
        follow(false);
        rows.current?.goTo(segment, (row) => partOf(row, shown));
      },
      follow: () => follow(true),
      segment: (index) => segments.get(index),
    });
  }, [onActions, follow, rows, segments]);

  const marksOf = (index: number): Record<(typeof marked)[number] | "playing", readonly Mark[]> => ({
    doubtful: showsDoubt ? doubtsIn(segments.get(index), recording.doubt_below) : nothing,
    found: found.get(index) ?? nothing,
    "found-now": place?.segment === index ? [place.mark] : nothing,
    playing: spoken?.segment === index ? [spoken.mark] : nothing,
  });
  useLayoutEffect(() => {
    const texts = [...(rows.current?.rows ?? [])].map(([index, row]) => [index, row.querySelector(".said")] as const);
    for (const layer of marked) {
      highlight(
        layer,
        texts.flatMap(([index, text]) => (text === null ? [] : rangesIn(text, marksOf(index)[layer]))),
      );
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
      <Told trouble={trouble} again={again} />
      <div ref={list} class="all" dir={directionOf(recording.language)}>
        <ol aria-label={strings.transcript} style={{ transform: `translateY(${top}px)` }}>
          {shown.map((index) => {
            const speakerIndex = outline.speaker[index] ?? 0;
            return (
              <SegmentRow
                key={index}
                index={index}
                count={outline.characters.length}
                segment={segments.get(index)}
                speaker={beginsTurn(outline, index) ? (recording.speakers[speakerIndex] ?? null) : null}
                speakerIndex={speakerIndex}
                startSeconds={(outline.start_milliseconds[index] ?? 0) / 1_000}
                language={recording.language}
                marked={marksOf(index)}
                onRow={onRow}
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
            follow(true);
            back();
          }}
        >
          {strings.player.follow}
        </button>
      )}
    </div>
  );
}

/** Returns the positions of the words whose probability is below a limit. */
function doubtsIn(segment: Segment | null, below: number): readonly Mark[] {
  const doubted = segment?.words.filter((word) => word[4] < below) ?? [];
  return doubted.map(([from, to]) => [from, to]);
}

/**
 * Calls `onPlace` with the start time when the user clicks a word or a segment's time. Keyboard users have the times,
 * which are buttons, and the shortcuts that move from word to word.
 */
export function useClicks(list: UsedRows["list"], segments: SegmentPages, onPlace: (seconds: number) => void): void {
  useEffect(() => {
    const startOf = (said: HTMLElement, event: MouseEvent): number | null => {
      const segment = segments.get(Number(said.closest<HTMLElement>("[data-index]")?.dataset.index));
      const character = characterAt(said, event.clientX, event.clientY);
      if (segment === null || character === null) return null;
      return wordAtCharacter(segment, character)?.[2] ?? segment.start;
    };
    const click = (event: MouseEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const time = target?.closest<HTMLElement>("[data-play]")?.dataset.play;
      const said = target?.closest<HTMLElement>(".said");
      // A user who has selected text wants to copy it.
      const isSelecting = getSelection()?.isCollapsed === false;
      const start = time === undefined ? said && !isSelecting && startOf(said, event) : Number(time);
      if (typeof start === "number") onPlace(start);
    };
    const element = list.current;
    element?.addEventListener("click", click);
    return () => element?.removeEventListener("click", click);
  }, [list, segments, onPlace]);
}
