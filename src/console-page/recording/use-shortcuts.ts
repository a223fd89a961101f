import { useEffect, useRef } from "preact/hooks";

/** Actions by key, such as `Shift+ArrowLeft` or `Space`. An action that returns false leaves the key to the browser. */
type Shortcuts = Readonly<Record<string, () => unknown>>;

/** Elements that handle keys themselves. */
const ownKeys = "input:not([type=range]), textarea, select, dialog, [contenteditable]";
const pressable = "button, a, summary, label";

/**
 * Handles keyboard shortcuts on the whole page, except in elements that handle keys themselves. No shortcut is a
 * letter, so that dictation does not trigger one (WCAG 2.1.4).
 */
export function useShortcuts(shortcuts: Shortcuts): void {
  const now = useRef(shortcuts);
  now.current = shortcuts;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const name = nameOf(event);
      const action = now.current[name];
      if (action === undefined || event.defaultPrevented) return;
      if (!name.startsWith("Control+") && target?.closest(ownKeys)) return;
      if (name === "Space" && target?.closest(pressable)) return;
      if (action() !== false) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** Returns the name of a key with its modifiers. The command key of a Mac counts as Control. */
function nameOf({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): string {
  const modifiers = [
    [ctrlKey || metaKey, "Control"],
    [altKey, "Alt"],
    [shiftKey, "Shift"],
  ] as const;
  const held = modifiers.filter(([isHeld]) => isHeld).map(([, name]) => name);
  return [...held, key === " " ? "Space" : key].join("+");
}
