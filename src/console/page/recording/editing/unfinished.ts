import { useEffect, useState } from "preact/hooks";

/** A text that is not saved yet. */
export interface Typed {
  readonly text: string;
  /** The revision whose text the user changes. It is not moved by changes that arrive while the user types. */
  readonly seen: number;
}

/** The recording whose transcript is corrected. */
export interface CorrectedRecording {
  readonly id: string;
  readonly name: string;
}

/** Corrections of a transcript that may not be saved yet. */
interface Unfinished {
  /** The user who makes them. */
  readonly owner: string;
  readonly recording: CorrectedRecording;
  readonly state: "saved" | "saving" | "unreachable";
  /** The texts that were not saved, until the user has chosen. */
  readonly conflicts: readonly { readonly segment: number; readonly text: string }[];
  /** The texts that are not saved, by segment. */
  readonly unsaved: ReadonlyMap<number, Typed>;
  /** Continues after the user has signed in again. */
  resume(): void;
}

/** The corrections of open transcripts, and of those that were left before all was saved, by user and recording. */
export const unfinished = new Map<string, Unfinished>();
const listeners = new Set<() => void>();

/** Returns whether all is saved, and the user has chosen between texts. */
function isFinished({ state, conflicts }: Unfinished): boolean {
  return state === "saved" && conflicts.length === 0;
}

/** Forgets corrections of a transcript that was left, once they are finished. */
export function finished(key: string, corrections: Unfinished): void {
  if (isFinished(corrections)) unfinished.delete(key);
  for (const listener of listeners) listener();
}

/** Continues the corrections of a user who has signed in again. */
export function resumeCorrections(owner: string): void {
  for (const corrections of unfinished.values()) if (corrections.owner === owner) corrections.resume();
}

/** Returns this user's corrections of other transcripts that are not finished. */
export function useUnfinished(owner: string, shownRecording: string | null): readonly Unfinished[] {
  const [, setChanges] = useState(0);
  useEffect(() => {
    const listener = () => setChanges((before) => before + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return [...unfinished.values()].filter(
    (corrections) => corrections.owner === owner && corrections.recording.id !== shownRecording,
  );
}

const STORAGE_KEY = "transcribe-console-unsaved";
let isLeaving = false;

/** Stores the unsaved texts in this tab, because the page is left for the sign-in provider, which leads back to it. */
export function storeTexts(): void {
  isLeaving = true;
  const texts = [...unfinished].map(([key, { unsaved, conflicts }]) => {
    // The server refuses these again, and the user chooses then.
    const refused = conflicts.map(({ segment, text }) => [segment, { text, seen: 0 }] as const);
    return [key, [...unsaved, ...refused]] as const;
  });
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(texts.filter(([, each]) => each.length > 0)));
}

/** Returns the stored texts of a transcript, and forgets them. */
export function takeTexts(key: string): (readonly [segment: number, typed: Typed])[] {
  const stored = sessionStorage.getItem(STORAGE_KEY);
  if (stored === null) return [];
  const texts: [string, [number, Typed][]][] = JSON.parse(stored);
  const others = texts.filter(([each]) => each !== key);
  if (others.length === 0) sessionStorage.removeItem(STORAGE_KEY);
  else sessionStorage.setItem(STORAGE_KEY, JSON.stringify(others));
  return texts.filter(([each]) => each === key).flatMap(([, each]) => each);
}

addEventListener("beforeunload", (event) => {
  if (isLeaving) return;
  for (const corrections of unfinished.values()) if (!isFinished(corrections)) event.preventDefault();
});
