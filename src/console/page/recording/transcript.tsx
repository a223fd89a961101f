import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Mark, Outline, RecordingDetail, Segment } from "../../contract.ts";
import { Told } from "../parts/index.ts";
import type { Refusal } from "../server.ts";
import { strings } from "../strings.ts";
import { beginsTurn, guessHeights } from "./guess-heights.ts";
import { canHighlight, characterAt, highlight, layers, rangesIn } from "./highlights.ts";
import { PageScroll } from "./page-scroll.ts";
import { segmentAt, wordAt, wordAtCharacter } from "./places.ts";
import type { Playback } from "./playback.ts";
import { SegmentPages } from "./segment-pages.ts";
import { SegmentRow } from "./segment-row.tsx";
import type { Found } from "./use-find.ts";
import { type RowRange, VirtualRows } from "./virtual-rows.ts";

/** What others have the transcript do. */
export interface TranscriptActions {
  /** Shows a place, and no longer follows what is said. */
  show(segment: number, mark: Mark | null): void;
  /** Follows what is said again. */
  follow(): void;
  /** The segment, where it has come. */
  segment(index: number): Segment | null;
}

interface TranscriptProps {
  readonly recording: RecordingDetail;
  readonly outline: Outline;
  readonly playback: Playback;
  /** What is looked for, by segment, and the place that is stepped to. */
  readonly found: ReadonlyMap<number, readonly Mark[]>;
  readonly place: Found | null;
  readonly showsDoubt: boolean;
  /** Takes the actions once they are there. */
  readonly onActions: (actions: TranscriptActions) => void;
}

const nothing: readonly Mark[] = [];

/** The transcript, of which only what is in sight is in the page; it follows what is played word by word. */
export function Transcript(props: TranscriptProps) {
  const { recording, outline, playback, found, place, showsDoubt, onActions } = props;
  const list = useRef<HTMLDivElement>(null);
  const rows = useRef<VirtualRows | null>(null);
  const [range, setRange] = useState<RowRange>({ first: 0, last: -1 });
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [, setArrivals] = useState(0);
  const [isFollowing, setFollowing] = useState(true);
  const following = useRef(true);
  const [spoken, setSpoken] = useState<{ segment: number; mark: Mark } | null>(null);

  const segments = useMemo(
    () =>
      new SegmentPages(recording.id, (trouble) => {
        setRefusal(trouble);
        setArrivals((before) => before + 1);
      }),
    [recording.id],
  );
  useEffect(() => () => segments.end(), [segments]);
  segments.want(range.first, range.last);

  const follow = useCallback((isToFollow: boolean) => {
    following.current = isToFollow;
    setFollowing(isToFollow);
  }, []);

  useLayoutEffect(() => {
    if (list.current === null) return;
    const scroll = new PageScroll(() => follow(false));
    const guess = (width: number) => guessHeights(outline, width, recording.language);
    const change = (next: RowRange) =>
      setRange((before) => (before.first === next.first && before.last === next.last ? before : next));
    const virtual = new VirtualRows(list.current, guess, scroll, change);
    rows.current = virtual;
    return () => {
      virtual.end();
      scroll.end();
      rows.current = null;
      for (const layer of layers) highlight(layer, []);
    };
  }, [outline, recording.language, follow]);

  const keepInSight = useCallback((index: number, mark: Mark | null) => {
    const virtual = rows.current;
    const row = virtual?.row(index);
    const seen = row === undefined ? null : partOf(row, mark);
    if (seen !== null && virtual?.isAtEase(seen.getBoundingClientRect())) return;
    virtual?.goTo(index, (element) => partOf(element, mark));
  }, []);

  const markSpoken = useCallback(
    (seconds: number) => {
      const index = segmentAt(outline, seconds);
      const segment = segments.get(index);
      const word = segment === null ? null : wordAt(segment, seconds);
      const mark: Mark | null = word === null ? null : [word[0], word[1]];
      for (const [number, row] of rows.current?.rows ?? []) row.toggleAttribute("data-now", number === index);
      const row = rows.current?.row(index)?.querySelector(".said");
      highlight("playing", row && mark !== null ? rangesIn(row, [mark]) : []);
      if (!canHighlight) setSpoken(mark === null ? null : { segment: index, mark });
      return { index, mark };
    },
    [outline, segments],
  );

  useEffect(
    () =>
      playback.onTime((seconds) => {
        const { index, mark } = markSpoken(seconds);
        if (following.current && index >= 0) keepInSight(index, mark);
      }),
    [playback, markSpoken, keepInSight],
  );

  useEffect(() => {
    onActions({
      show: (segment, mark) => {
        follow(false);
        rows.current?.goTo(segment, (row) => partOf(row, mark));
      },
      follow: () => follow(true),
      segment: (index) => segments.get(index),
    });
  }, [onActions, follow, segments]);

  const doubtful = (segment: Segment): readonly Mark[] =>
    showsDoubt
      ? segment.words.filter((word) => word[4] < recording.doubt_below).map(([from, to]) => [from, to] as const as Mark)
      : nothing;

  useLayoutEffect(() => {
    const ranges = (marksOf: (index: number) => readonly Mark[]) =>
      [...(rows.current?.rows ?? [])].flatMap(([index, row]) => {
        const said = row.querySelector(".said");
        return said === null ? [] : rangesIn(said, marksOf(index));
      });
    highlight(
      "doubtful",
      ranges((index) => withSegment(segments.get(index), doubtful)),
    );
    highlight(
      "found",
      ranges((index) => found.get(index) ?? nothing),
    );
    highlight(
      "found-now",
      ranges((index) => (place?.segment === index ? [place.mark] : nothing)),
    );
    markSpoken(playback.seconds);
  });

  useEffect(() => {
    const click = (event: MouseEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const start = target?.closest<HTMLElement>("[data-play]")?.dataset.play;
      const said = target?.closest<HTMLElement>(".said");
      if (start !== undefined) {
        follow(true);
        playback.play(Number(start));
      } else if (said && getSelection()?.isCollapsed !== false) {
        const index = Number(said.closest<HTMLElement>("[data-index]")?.dataset.index);
        const segment = segments.get(index);
        const character = characterAt(said, event.clientX, event.clientY);
        if (segment === null || character === null) return;
        follow(true);
        playback.play(wordAtCharacter(segment, character)?.[2] ?? segment.start);
      }
    };
    const element = list.current;
    element?.addEventListener("click", click);
    return () => element?.removeEventListener("click", click);
  }, [segments, playback, follow]);

  const onRow = useCallback((index: number, element: HTMLElement | null) => rows.current?.hold(index, element), []);
  const shown = Array.from({ length: range.last - range.first + 1 }, (_, offset) => range.first + offset);
  const back = () => {
    follow(true);
    const { index, mark } = markSpoken(playback.seconds);
    keepInSight(Math.max(0, index), mark);
  };
  return (
    <div class="transcript">
      <Told refusal={refusal} again={() => segments.want(range.first, range.last)} />
      <div ref={list} class="all">
        <ol
          aria-label={strings.transcript}
          style={{ transform: `translateY(${rows.current?.offsetOf(range.first) ?? 0}px)` }}
        >
          {shown.map((index) => {
            const segment = segments.get(index);
            const speakerIndex = outline.speaker[index] ?? 0;
            return (
              <SegmentRow
                key={index}
                index={index}
                count={outline.characters.length}
                segment={segment}
                speaker={beginsTurn(outline, index) ? (recording.speakers[speakerIndex] ?? null) : null}
                speakerIndex={speakerIndex}
                startSeconds={(outline.start_milliseconds[index] ?? 0) / 1_000}
                language={recording.language}
                marked={{
                  doubtful: withSegment(segment, doubtful),
                  found: found.get(index) ?? nothing,
                  "found-now": place?.segment === index ? [place.mark] : nothing,
                  playing: spoken?.segment === index ? [spoken.mark] : nothing,
                }}
                onRow={onRow}
              />
            );
          })}
        </ol>
      </div>
      {!isFollowing && (
        <button type="button" class="main follow" onClick={back}>
          {strings.player.follow}
        </button>
      )}
    </div>
  );
}

function withSegment(segment: Segment | null, marks: (segment: Segment) => readonly Mark[]): readonly Mark[] {
  return segment === null ? nothing : marks(segment);
}

/** What is to be seen of a row: a marked place, else its text; null while that has not come. */
function partOf(row: HTMLElement, mark: Mark | null): Range | Element | null {
  const said = row.querySelector(".said:not(.coming)");
  if (said === null) return null;
  if (mark === null) return said;
  return rangesIn(said, [mark])[0] ?? said;
}
