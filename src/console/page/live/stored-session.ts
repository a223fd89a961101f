import type { Named } from "../../contract/index.ts";
import type { SourceChoice } from "./capture.ts";
import type { LiveText } from "./live-text.ts";

/** What the user chose for a session. */
export interface LiveSetup {
  readonly account: Named;
  /** Id of the workspace; null for none. */
  readonly workspace: string | null;
  /** Language code; null for language detection. */
  readonly language: string | null;
  readonly prompt: string | null;
  readonly name: string | null;
  readonly keep: boolean;
  readonly source: SourceChoice;
}

/** A session that this tab can continue after the page was loaded again. It has no words: the server sends them. */
export interface StoredSession {
  readonly id: string;
  readonly setup: LiveSetup;
  readonly sampleRate: number;
  readonly names: LiveText["names"];
}

const STORAGE_KEY = "transcribe-console-live";

/** Returns the session that this tab has stored; null for none. */
export function storedSession(): StoredSession | null {
  const text = sessionStorage.getItem(STORAGE_KEY);
  // Only this page writes under the key, and another version of it stores nothing else there.
  return text === null ? null : (JSON.parse(text) as StoredSession);
}

export function storeSession(session: StoredSession): void {
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify(session));
}

export function forgetSession(): void {
  sessionStorage.removeItem(STORAGE_KEY);
}
