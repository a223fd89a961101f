import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Mark, Outline } from "../../../console/contract.ts";
import { segmentAt, wordAt } from "../places.ts";
import type { Playback } from "../player/index.ts";
import type { UsedRows } from "../rows/index.ts";
import { canHighlight, highlight, rangesIn } from "./highlights.ts";
import { partOf } from "./part-of.ts";
import type { SegmentPages } from "./segment-pages.ts";

/** A word that is said. */
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

/** Whether what is said is kept in sight; the reader's own moves end it. */
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
 * Marks the word that is said, and keeps it in sight where it is followed.
 * @returns `mark`, which marks it in rows that have come; `back`, which goes to it; and, for browsers that need elements to
 * mark a word, the word
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
