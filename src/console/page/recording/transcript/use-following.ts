import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Mark, Outline } from "../../../contract/index.ts";
import { segmentAt, wordAt } from "../places.ts";
import type { Playback } from "../player/playback.ts";
import type { UsedRows } from "../rows/virtual-rows.ts";
import { canHighlight, highlight, partOf, rangesIn } from "./highlights.ts";
import type { TranscriptData } from "./transcript-data.ts";

/** Holds whether the view follows the playback. Scrolling by the user ends this. */
export function useFollowState() {
  const [isFollowing, setFollowing] = useState(true);
  const current = useRef(true);
  const change = (next: boolean) => {
    current.current = next;
    setFollowing(next);
  };
  const follow = useCallback(() => change(true), []);
  const unfollow = useCallback(() => change(false), []);
  return { isFollowing, current, follow, unfollow };
}

interface Followed {
  readonly playback: Playback;
  readonly outline: Outline;
  readonly segments: TranscriptData;
  readonly rows: UsedRows["rows"];
}

/**
 * Marks the word that is being played and, while following, keeps it visible.
 * @returns `mark`, which marks the word in newly rendered rows; `scrollBack`, which scrolls to it; `isInView`, whether it
 * can be seen; and `playing`, the word itself, for browsers that need elements to mark it
 */
export function useFollowing(
  { playback, outline, segments, rows }: Followed,
  isFollowed: { readonly current: boolean },
) {
  const [playing, setPlaying] = useState<{ readonly segment: number; readonly mark: Mark } | null>(null);

  const [isInView, setInView] = useState(true);
  /** The place that was marked last. */
  const marked = useRef<{ readonly index: number; readonly place: Mark | null }>({ index: 0, place: null });
  const look = useCallback(() => {
    const { index, place } = marked.current;
    const row = rows.current?.rows.get(Math.max(0, index));
    const part = row === undefined ? null : partOf(row, place);
    setInView(part !== null && rows.current?.isVisible(part.getBoundingClientRect()) === true);
  }, [rows]);

  const mark = useCallback(() => {
    const index = segmentAt(outline, playback.seconds);
    const segment = segments.get(index);
    const word = segment === null ? null : wordAt(segment, playback.seconds);
    const place: Mark | null = word === null ? null : [word[0], word[1]];
    for (const [number, row] of rows.current?.rows ?? []) row.toggleAttribute("data-now", number === index);
    const text = rows.current?.rows.get(index)?.querySelector(".transcribed");
    highlight("playing", text && place !== null ? rangesIn(text, [place]) : []);
    if (!canHighlight) {
      setPlaying((before) => {
        const isSame = before?.mark[0] === place?.[0] && (place === null || before?.segment === index);
        return isSame ? before : place && { segment: index, mark: place };
      });
    }
    marked.current = { index, place };
    look();
    return marked.current;
  }, [playback, outline, segments, rows, look]);
  useEffect(() => {
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, [look]);

  const keepInView = useCallback(
    (index: number, place: Mark | null) => {
      const virtual = rows.current;
      const row = virtual?.rows.get(index);
      const part = row === undefined ? null : partOf(row, place);
      if (part !== null && virtual?.isComfortable(part.getBoundingClientRect())) return;
      virtual?.scrollTo(index, (element) => partOf(element, place));
    },
    [rows],
  );

  useEffect(
    () =>
      playback.onTime(() => {
        const { index, place } = mark();
        if (isFollowed.current && index >= 0 && !rows.current?.isScrollingTo(index)) keepInView(index, place);
      }),
    [playback, mark, keepInView, rows, isFollowed],
  );

  const scrollBack = () => {
    const { index, place } = mark();
    keepInView(Math.max(0, index), place);
  };
  return { playing, mark, isInView, scrollBack };
}
