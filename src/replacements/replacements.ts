import { asc, count, eq } from "drizzle-orm";
import { type Account, type Auditor, audit } from "../accounts/index.ts";
import { type Store, tables, transact, type Writer } from "../database/index.ts";
import { cleanText, ExpectedError } from "../text/index.ts";

/** Failure of an administrative request about replacements. The message gives the reason and the remedy. */
export class ReplacementError extends ExpectedError {
  override readonly name = "ReplacementError";
}

/** Words that an account's transcripts always write in one way: `source` is replaced by `target`. */
export type Replacement = typeof tables.replacements.$inferSelect;

/** An entry as a person gives it. */
export type NewReplacement = Pick<Replacement, "source" | "target" | "matchesCase">;

/** Number of replacements that an account can have. */
export const MAX_REPLACEMENTS = 1000;
/** Maximum lengths in characters. */
const MAX_SOURCE_CHARACTERS = 100;
const MAX_TARGET_CHARACTERS = 200;

const { replacements } = tables;
const isOf = (accountId: string) => eq(replacements.accountId, accountId);

/** Returns the replacements of an account, the oldest first. */
export function listReplacements(store: Pick<Writer, "select">, accountId: string): Replacement[] {
  return store.select().from(replacements).where(isOf(accountId)).orderBy(asc(replacements.id)).all();
}

export function countReplacements(store: Store, accountId: string): number {
  return store.select({ entries: count() }).from(replacements).where(isOf(accountId)).get()?.entries ?? 0;
}

/** Returns a replacement. @throws {ReplacementError} when there is none */
function requireReplacement(store: Pick<Writer, "select">, id: string): Replacement {
  const row = store.select().from(replacements).where(eq(replacements.id, id)).get();
  if (row !== undefined) return row;
  throw new ReplacementError(`there is no replacement ${id}; list them with: transcribe replacements list`);
}

/** Cleans the words of an entry. @throws {ReplacementError} that says what is wrong */
export function cleanSource(text: string): string {
  // The search takes any white space between two words for the same.
  const source = cleanText(text).normalize("NFC").replace(/\s+/g, " ");
  if (!/^[\p{L}\p{N}]/u.test(source)) {
    throw new ReplacementError("the words to be replaced must begin with a letter or a digit");
  }
  if (source.length <= MAX_SOURCE_CHARACTERS) return source;
  throw new ReplacementError(`the words to be replaced are longer than ${MAX_SOURCE_CHARACTERS} characters`);
}

/** Cleans the text of an entry. @throws {ReplacementError} that says what is wrong */
export function cleanTarget(text: string): string {
  const target = cleanText(text).normalize("NFC");
  if (target === "") throw new ReplacementError("the text to be written must not be empty");
  if (target.length <= MAX_TARGET_CHARACTERS) return target;
  throw new ReplacementError(`the text to be written is longer than ${MAX_TARGET_CHARACTERS} characters`);
}

function cleaned({ source, target, matchesCase }: NewReplacement): NewReplacement {
  return { source: cleanSource(source), target: cleanTarget(target), matchesCase };
}

/** Returns whether two entries replace the same words, so that the later one takes the place of the other. */
function isSame(one: NewReplacement, other: NewReplacement): boolean {
  if (one.matchesCase !== other.matchesCase) return false;
  const key = ({ source }: NewReplacement) => (one.matchesCase ? source : source.toLowerCase());
  return key(one) === key(other);
}

/**
 * Adds a replacement, or changes the one of the same words. It applies to transcripts that are made from now on.
 * @throws {ReplacementError}
 */
export function addReplacement(store: Store, account: Named, entry: NewReplacement, by: Auditor): Replacement {
  return transact(store, (writer) => {
    const [added] = write(writer, account, [cleaned(entry)], by);
    if (added === undefined) throw new Error("nothing was written");
    // The log holds no words: they are meant for the account's recordings alone.
    audit(writer, by, "replacements.add", added.id, { account: account.name });
    return added;
  });
}

/**
 * Adds several replacements, or none of them.
 * @param replacesAll whether all others are removed
 * @throws {ReplacementError}
 */
export function importReplacements(
  store: Store,
  account: Named,
  entries: readonly NewReplacement[],
  by: Auditor,
  replacesAll: boolean,
): Replacement[] {
  return transact(store, (writer) => {
    if (replacesAll) writer.delete(replacements).where(isOf(account.id)).run();
    const added = write(writer, account, entries.map(cleaned), by);
    audit(writer, by, "replacements.import", account.id, { name: account.name, entries: added.length, replacesAll });
    return added;
  });
}

type Named = Pick<Account, "id" | "name">;

function write(
  writer: Writer,
  { id: accountId }: Named,
  entries: readonly NewReplacement[],
  by: Auditor,
): Replacement[] {
  const present = listReplacements(writer, accountId);
  const written = entries.map((entry): Replacement => {
    const before = present.findIndex((each) => isSame(each, entry));
    const own = { accountId, createdAt: by.now, createdBy: by.actor };
    const row = { ...entry, ...own, id: present[before]?.id ?? Bun.randomUUIDv7() };
    present.splice(before < 0 ? present.length : before, 1, row);
    return row;
  });
  if (present.length > MAX_REPLACEMENTS) {
    throw new ReplacementError(
      `an account can have ${MAX_REPLACEMENTS} replacements, and would have ${present.length}; remove some that it does not need`,
    );
  }
  for (const { id, ...values } of new Map(written.map((row) => [row.id, row])).values()) {
    writer
      .insert(replacements)
      .values({ id, ...values })
      .onConflictDoUpdate({ target: replacements.id, set: values })
      .run();
  }
  return written;
}

/** Removes a replacement. Transcripts that are made from now on keep the words. @throws {ReplacementError} */
export function removeReplacement(store: Store, id: string, by: Auditor): Replacement {
  return transact(store, (writer) => {
    const removed = requireReplacement(writer, id);
    writer.delete(replacements).where(eq(replacements.id, id)).run();
    audit(writer, by, "replacements.remove", id, {});
    return removed;
  });
}

/**
 * Parses a list with one entry in each line: the words, `=>` or a tab, and the text to be written. Empty lines and those
 * that begin with `#` are ignored.
 * @throws {ReplacementError} with the number of the first line that is wrong
 */
export function parseReplacements(text: string, matchesCase: boolean): NewReplacement[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  return lines.flatMap((line, index) => {
    if (line.trim() === "" || line.trimStart().startsWith("#")) return [];
    const at = /\t|=>/.exec(line);
    const problem = (message: string) => new ReplacementError(`line ${index + 1}: ${message}`);
    if (at === null) throw problem("write the words, then => or a tab, and then the text to be written");
    const entry = { source: line.slice(0, at.index), target: line.slice(at.index + at[0].length), matchesCase };
    try {
      return [cleaned(entry)];
    } catch (error) {
      throw error instanceof ReplacementError ? problem(error.message) : error;
    }
  });
}
