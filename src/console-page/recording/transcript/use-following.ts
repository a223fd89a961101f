import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Mark, Outline } from "../../../console/contract.ts";
import { segmentAt, wordAt } from "../places.ts";
import type { Playback } from "../player/playback.ts";
import type { UsedRows } from "../rows/virtual-rows.ts";
import { canHighlight, highlight, partOf, rangesIn } from "./highlights.ts";
import type { SegmentPages } from "./segment-pages.ts";

/** The word that is being played. */
interface Spoken {
  readonly segment: number;
  readonly mark: Mark;
}

interface Followed {
  readonly playback: Playback;
  readonly outline: Outline;
  readonly segments: SegmentPages;
  readonly rows: UsedRows["rows"];
}

/** Holds whether the view follows the playback. Scrolling by the reader ends this. */
export function useFollowState() {
  const [isFollowing, setFollowing] = useState(true);
  const current = useRef(true);
  const follow = useCallback((isToFollow: boolean) => {
    current.current = isToFollow;
    setFollowing(isToFollow);
  }, []);
  const leave = useCallback(() => follow(false), [follow]);
  return { isFollowing, current, follow, leave };
}

/**
 * Marks the word that is being played and, while following, keeps it visible.
 * @returns `mark`, which marks the word in newly rendered rows; `back`, which scrolls to it; and `spoken`, the word
 * itself, for browsers that need elements to mark it
 */
export function useFollowing(
  { playback, outline, segments, rows }: Followed,
  isFollowed: { readonly current: boolean },
) {
  const [spoken, setSpoken] = useState<Spoken | null>(null);

  const mark = useCallback(() => {
    const index = segmentAt(outline, playback.seconds);
    const segment = segments.get(index);
    const word = segment === null ? null : wordAt(segment, playback.seconds);
    const place: Mark | null = word === null ? null : [word[0], word[1]];
    for (const [number, row] of rows.current?.rows ?? []) row.toggleAttribute("data-now", number === index);
    const said = rows.current?.row(index)?.querySelector(".said");
    highlight("playing", said && place !== null ? rangesIn(said, [place]) : []);
    if (!canHighlight) {
      setSpoken((before) => (isSame(before, index, place) ? before : place && { segment: index, mark: place }));
    }
    return { index, place };
  }, [playback, outline, segments, rows]);

  const keepInSight = useCallback(
    (index: number, place: Mark | null) => {
      const virtual = rows.current;
      if (virtual === null) return;
      const row = virtual.row(index);
      const seen = row === undefined ? null : partOf(row, place);
      if (seen !== null && virtual.isAtEase(seen.getBoundingClientRect())) return;
      virtual.goTo(index, (element) => partOf(element, place));
    },
    [rows],
  );

  useEffect(
    () =>
      playback.onTime(() => {
        const { index, place } = mark();
        if (isFollowed.current && index >= 0 && !rows.current?.isGoingTo(index)) keepInSight(index, place);
      }),
    [playback, mark, keepInSight, rows, isFollowed],
  );

  const back = () => {
    const { index, place } = mark();
    keepInSight(Math.max(0, index), place);
  };
  return { spoken, mark, back };
}

function isSame(spoken: Spoken | null, segment: number, mark: Mark | null): boolean {
  if (spoken === null || mark === null) return spoken === mark;
  return spoken.segment === segment && spoken.mark[0] === mark[0];
}
