import { useEffect, useRef } from "preact/hooks";
import type { Outline } from "../../contract/index.ts";
import type { Corrections } from "./editing/corrections.ts";
import { lastStarted, neighbourStart, segmentAt } from "./places.ts";
import type { Playback } from "./player/playback.ts";
import type { TranscriptActions } from "./transcript/transcript-data.ts";

/** Adds keyboard shortcuts to play, skip, find, undo and redo; strings.ts lists the keys. */
export function useKeys(
  playback: Playback,
  outline: Outline | null,
  actions: { readonly current: TranscriptActions | null },
  findField: { readonly current: HTMLInputElement | null },
  corrections: Corrections,
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
    const start = outline.start_milliseconds[lastStarted(outline, playback.seconds) + step];
    if (start !== undefined) playback.seek(start / 1_000);
  };
  const show = (index: number | null) => {
    if (index !== null) actions.current?.show(index, null);
  };
  const undo = () => corrections.canUndo && corrections.undo().then(show);
  const redo = () => corrections.canRedo && corrections.redo().then(show);
  useShortcuts({
    "Control+z": undo,
    "Control+Shift+z": redo,
    "Control+y": redo,
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

/** Actions by key, such as `Shift+ArrowLeft` or `Space`. An action that returns false leaves the key to the browser. */
type Shortcuts = Readonly<Record<string, () => unknown>>;

/** Elements that handle keys themselves. */
const ownKeys = "input:not([type=range]), textarea, select, dialog, [contenteditable]";
const pressable = "button, a, summary, label";

/**
 * Handles keyboard shortcuts on the whole page, except in elements that handle keys themselves. No shortcut is a
 * letter, so that dictation does not trigger one (WCAG 2.1.4).
 */
function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const name = keyNameOf(event);
      const action = current.current[name];
      if (action === undefined || event.defaultPrevented) return;
      if (target?.closest(ownKeys) && name !== "Control+f") return;
      if (name === "Space" && target?.closest(pressable)) return;
      if (action() !== false) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** Returns the name of a key with its modifiers. The command key of a Mac counts as Control. */
export function keyNameOf(event: KeyboardEvent): string {
  const { shiftKey, altKey, ctrlKey, metaKey } = event;
  const modifiers = [
    [ctrlKey || metaKey, "Control"],
    [altKey, "Alt"],
    [shiftKey, "Shift"],
  ] as const;
  const held = modifiers.filter(([isHeld]) => isHeld).map(([, name]) => name);
  return [...held, plainKeyOf(event)].join("+");
}

function plainKeyOf({ key, code, altKey }: KeyboardEvent): string {
  if (key === " ") return "Space";
  // On a Mac, Alt and a letter type another character.
  if (altKey && /^Key[A-Z]$/.test(code)) return code.slice(3).toLowerCase();
  return key.length === 1 ? key.toLowerCase() : key;
}
