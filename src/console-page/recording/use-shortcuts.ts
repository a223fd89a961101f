import { useEffect, useRef } from "preact/hooks";

/** Keys, as `Shift+ArrowLeft` or `Space`, and what they do; false: nothing now, the browser may take the key. */
type Shortcuts = Readonly<Record<string, () => unknown>>;

/** What a key means something to by itself. */
const ownKeys = "input:not([type=range]), textarea, select, dialog, [contenteditable]";
const pressable = "button, a, summary, label";

/**
 * Does things by keys, wherever the keyboard is on the page but in what takes the keys for itself. No letters are among
 * them, so that dictation does not set them off (WCAG 2.1.4).
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

/** The command key of a Mac counts as Control. */
function nameOf({ key, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): string {
  const modifiers = [
    [ctrlKey || metaKey, "Control"],
    [altKey, "Alt"],
    [shiftKey, "Shift"],
  ] as const;
  const held = modifiers.filter(([isHeld]) => isHeld).map(([, name]) => name);
  return [...held, key === " " ? "Space" : key].join("+");
}
