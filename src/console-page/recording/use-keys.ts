import type { Outline } from "../../console/contract.ts";
import { neighbourStart, segmentAt } from "./places.ts";
import type { Playback } from "./player/index.ts";
import type { TranscriptActions } from "./transcript/index.ts";
import { useShortcuts } from "./use-shortcuts.ts";

/** Adds keyboard shortcuts to play, skip and find; strings.ts lists the keys. */
export function useKeys(
  playback: Playback,
  outline: Outline | null,
  actions: { readonly current: TranscriptActions | null },
  findField: { readonly current: HTMLInputElement | null },
): void {
  const byWord = (step: 1 | -1) => {
    if (outline === null) return;
    const index = segmentAt(outline, playback.seconds);
    const segment = actions.current?.segment(Math.max(0, index)) ?? null;
    const start = segment === null ? null : neighbourStart(segment, playback.seconds, step);
    if (start !== null) playback.seek(start);
    else bySegment(step);
  };
  const bySegment = (step: 1 | -1) => {
    if (outline === null) return;
    const start = outline.start_milliseconds[segmentAt(outline, playback.seconds) + step];
    if (start !== undefined) playback.seek(start / 1_000);
  };
  useShortcuts({
    Space: () => playback.toggle(),
    ArrowLeft: () => playback.skip(-1),
    ArrowRight: () => playback.skip(1),
    "Shift+ArrowLeft": () => byWord(-1),
    "Shift+ArrowRight": () => byWord(1),
    "Alt+ArrowUp": () => bySegment(-1),
    "Alt+ArrowDown": () => bySegment(1),
    "Shift+ArrowUp": () => playback.changeRate(1),
    "Shift+ArrowDown": () => playback.changeRate(-1),
    "Control+f": () => {
      // Pressed a second time, the key opens the browser's own search.
      if (document.activeElement === findField.current) return false;
      findField.current?.focus();
      findField.current?.select();
      return true;
    },
  });
}
