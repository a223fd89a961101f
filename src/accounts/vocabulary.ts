import { eq } from "drizzle-orm";
import { type Store, tables } from "../storage/index.ts";
import type { Account } from "./accounts.ts";
import { type Auditor, audit } from "./audit.ts";
import { AccountsError } from "./errors.ts";

/** Much more than any model hears; it bounds what is stored and looked through. */
const maxCharacters = 4000;

/** Controls but line ends and tabs, marks that turn the direction of what follows, halves of characters, and no characters. */
const refused = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Cn}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/**
 * Names and terms as whisper is told them: in one line, those that stood a line each parted by commas.
 * @throws {AccountsError} for what holds no letters, control characters or far too much
 */
export function tidyVocabulary(text: string): string {
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

/** What parts a term from the next. */
const parts = /[.,;:!?、，。；：！？،؛۔।]$/u;

/** Gives an account a vocabulary, or takes it away; it counts for recordings that are created from now on. */
export function setVocabulary(store: Store, account: Account, by: Auditor, vocabulary: string | null): Account {
  return store.transaction((transaction) => {
    const changed = transaction
      .update(tables.accounts)
      .set({ vocabulary })
      .where(eq(tables.accounts.id, account.id))
      .returning()
      .get();
    if (changed === undefined) throw new AccountsError(`the account ${account.name} is gone`);
    // What it says is for its recordings alone.
    audit(transaction, by, "accounts.vocabulary", account.id, {
      name: account.name,
      characters: vocabulary?.length ?? 0,
    });
    return changed;
  });
}
