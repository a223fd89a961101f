import type { Store } from "../database/index.ts";
import { normalizeTerms } from "../text/index.ts";
import { type Account, AccountsError, updateAccount } from "./accounts.ts";
import type { Auditor } from "./audit.ts";

/** Maximum length of a vocabulary, far more than any model uses. It bounds what is stored and searched. */
const MAX_CHARACTERS = 4000;

/**
 * Normalizes an account's vocabulary.
 * @throws {AccountsError} when the text has no letters or digits, has control characters, or is too long
 */
export function normalizeVocabulary(text: string): string {
  const normalized = normalizeTerms(text);
  if (!normalized.ok) {
    throw new AccountsError(
      normalized.flaw === "no_term"
        ? "the vocabulary has no name or term; to remove a vocabulary, use --clear"
        : "a vocabulary must be plain text without control characters",
    );
  }
  const { terms } = normalized;
  if (terms.length > MAX_CHARACTERS) {
    throw new AccountsError(
      `a vocabulary of ${terms.length} characters is too long; at most ${MAX_CHARACTERS} are allowed`,
    );
  }
  return terms;
}

/** Sets or removes an account's vocabulary. The change applies to recordings created from now on. */
export function setVocabulary(store: Store, account: Account, by: Auditor, vocabulary: string | null): Account {
  // The log holds the vocabulary's length only: its text is meant for the account's recordings alone.
  const details = { characters: vocabulary?.length ?? 0 };
  return updateAccount(store, account, { vocabulary }, by, "accounts.vocabulary", details);
}
