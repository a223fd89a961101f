import type { Store } from "../storage/index.ts";
import { type Account, AccountsError, updateAccount } from "./accounts.ts";
import type { Auditor } from "./audit.ts";

/** Maximum length of a vocabulary, far more than any model uses. It bounds what is stored and searched. */
const MAX_CHARACTERS = 4000;

/**
 * Line and paragraph separators, direction marks, surrogates, unassigned code points, and control characters except
 * line ends and tabs.
 */
const FORBIDDEN_CHARACTERS = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Cn}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/**
 * Normalizes names and terms to the single line that the recognizer receives. Lines are joined with a comma unless they end
 * with a separator.
 * @throws {AccountsError} when the text has no letters or digits, has control characters, or is too long
 */
export function normalizeVocabulary(text: string): string {
  if (FORBIDDEN_CHARACTERS.test(text)) {
    throw new AccountsError("a vocabulary must be plain text without control characters");
  }
  const lines = text.normalize("NFC").split(/[\r\n]+/);
  const entries = lines.map((line) => line.replace(/\s+/g, " ").trim()).filter((line) => line !== "");
  const normalized = entries
    .map((line, index) => (index === entries.length - 1 || SEPARATOR_AT_END.test(line) ? line : `${line},`))
    .join(" ");
  if (!/[\p{L}\p{N}]/u.test(normalized)) {
    throw new AccountsError("the vocabulary has no name or term; to remove a vocabulary, use --clear");
  }
  if (normalized.length > MAX_CHARACTERS) {
    throw new AccountsError(
      `a vocabulary of ${normalized.length} characters is too long; at most ${MAX_CHARACTERS} are allowed`,
    );
  }
  return normalized;
}

/** Punctuation at the end of a line that separates it from the next one. */
const SEPARATOR_AT_END = /[.,;:!?、，。；：！？،؛۔।]$/u;

/** Sets or removes an account's vocabulary. The change applies to recordings created from now on. */
export function setVocabulary(store: Store, account: Account, by: Auditor, vocabulary: string | null): Account {
  // The log holds the vocabulary's length only: its text is meant for the account's recordings alone.
  const details = { characters: vocabulary?.length ?? 0 };
  return updateAccount(store, account, { vocabulary }, by, "accounts.vocabulary", details);
}
