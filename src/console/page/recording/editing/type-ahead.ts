import type { strings } from "../../strings.ts";

/** The part of a segment's text that is selected when its editor opens. */
export type Selection = readonly [from: number, to: number];

/** A place to edit next. */
export interface EditedPlace {
  /** Id of the segment. */
  readonly id: number;
  readonly selection: Selection;
  /** Whether the speaker is chosen, instead of the text being edited. */
  readonly isSpeaker?: true;
}

/** A step of the user that leads to another place. */
export type Step = keyof typeof strings.editing.waiting;

/** Keys that keep their meaning while a place is awaited: the playback goes on, and Escape leaves the field. */
const passed = new Set(["Escape", "Control+Space", "Control+Shift+Space", "Alt+h"]);

/** The parts of a key press that are needed here. */
interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/**
 * Characters that the user types while the place to edit next is not there yet: the server splits the segment, or the
 * row is not rendered. They are inserted at that place, and never at the place that the user has left.
 */
export class TypeAhead {
  #waits = 0;
  #isWaiting = false;
  #typed = "";
  /** Called after every change. */
  onChange: () => void = () => {};

  /** Whether a place is awaited. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** The characters so far. */
  get typed(): string {
    return this.#typed;
  }

  /** Awaits a place instead of the one before. Returns the number of this wait. */
  begin(): number {
    this.#set(true, "");
    this.#waits += 1;
    return this.#waits;
  }

  /** Returns whether a place is still awaited, because the user has not gone elsewhere. */
  isCurrent(wait: number): boolean {
    return this.#isWaiting && wait === this.#waits;
  }

  /**
   * Takes a key press while a place is awaited.
   * @param name name of the key with its modifiers
   * @returns whether nothing else may handle the key
   */
  press(event: KeyPress, name: string): boolean {
    if (!this.#isWaiting || passed.has(name)) return false;
    const { key, ctrlKey, metaKey, altKey } = event;
    if (key.length === 1 && !ctrlKey && !metaKey && !altKey) this.#set(true, this.#typed + key);
    if (name === "Backspace") this.#set(true, this.#typed.slice(0, -1));
    return true;
  }

  /** Ends the wait. Returns the characters, which belong to the place now. */
  take(): string {
    const typed = this.#typed;
    this.#set(false, "");
    return typed;
  }

  #set(isWaiting: boolean, typed: string): void {
    const isSame = this.#isWaiting === isWaiting && this.#typed === typed;
    this.#isWaiting = isWaiting;
    this.#typed = typed;
    if (!isSame) this.onChange();
  }
}
