import { useEffect } from "preact/hooks";
import { wordAtCharacter } from "../places.ts";
import type { UsedRows } from "../rows/index.ts";
import { characterAt } from "./highlights.ts";
import type { SegmentPages } from "./segment-pages.ts";

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
