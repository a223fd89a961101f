import { eq } from "drizzle-orm";
import { type Store, tables, transact } from "../storage/index.ts";
import { type Account, AccountsError } from "./accounts.ts";
import { type Auditor, audit } from "./audit.ts";

/** Maximum length of a vocabulary, far more than any model uses. It bounds what is stored and searched. */
const maxCharacters = 4000;

/**
 * Line and paragraph separators, direction marks, surrogates, unassigned code points, and control characters except
 * line ends and tabs.
 */
const refused = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Cn}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/**
 * Normalizes names and terms to the single line that the recognizer receives. Lines are joined with a comma unless they end
 * with a separator.
 * @throws {AccountsError} when the text has no letters or digits, has control characters, or is too long
 */
export function normalizeVocabulary(text: string): string {
  if (refused.test(text)) {
    throw new AccountsError("a vocabulary is plain text; this one has control characters in it, or what is no text");
  }
  const lines = text.normalize("NFC").split(/[\r\n]+/);
  const said = lines.map((line) => line.replace(/\s+/g, " ").trim()).filter((line) => line !== "");
  const tidy = said.map((line, index) => (index === said.length - 1 || parts.test(line) ? line : `${line},`)).join(" ");
  if (!/[\p{L}\p{N}]/u.test(tidy)) {
    throw new AccountsError("there is no name or term in it; to take a vocabulary away: --clear");
  }
  if (tidy.length > maxCharacters) {
    throw new AccountsError(
      `a vocabulary of ${tidy.length} characters is far too long; take the names that matter most`,
    );
  }
  return tidy;
}

/** Punctuation at the end of a line that separates it from the next one. */
const parts = /[.,;:!?、，。；：！？،؛۔।]$/u;

/** Sets or removes an account's vocabulary. The change applies to recordings created from now on. */
export function setVocabulary(store: Store, account: Account, by: Auditor, vocabulary: string | null): Account {
  return transact(store, (transaction) => {
    const changed = transaction
      .update(tables.accounts)
      .set({ vocabulary })
      .where(eq(tables.accounts.id, account.id))
      .returning()
      .get();
    if (changed === undefined) throw new AccountsError(`the account ${account.name} is gone`);
    // The log holds the vocabulary's length only: its text is meant for the account's recordings alone.
    audit(transaction, by, "accounts.vocabulary", account.id, {
      name: account.name,
      characters: vocabulary?.length ?? 0,
    });
    return changed;
  });
}
