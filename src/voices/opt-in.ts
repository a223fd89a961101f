import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { and, eq, exists } from "drizzle-orm";
import { type Account, AccountsError, type Auditor, audit, getAccount } from "../accounts/index.ts";
import { deleteSome, type Store, tables, transact, truncateLog } from "../database/index.ts";

/** Number of rows removed at once, in some milliseconds for which other writers wait. */
const ROWS_AT_ONCE = 250;

/** Returns whether an account remembers voices. */
export function knowsVoices(store: Store, accountId: string): boolean {
  return getAccount(store, accountId)?.voices ?? false;
}

/**
 * Lets an account remember voices, or deletes all of its voices and those of the speakers in its recordings. The account
 * and its voices change at once; the speakers' voices, of which there may be millions, follow in batches and are not
 * used from then on. After that, the database's files contain nothing of them. An interrupted deletion is completed by
 * `removeOptedOut`.
 * @throws {AccountsError} when the account is deleted
 */
export async function switchVoices(store: Store, account: Account, by: Auditor, isOn: boolean): Promise<Account> {
  const { accounts, voices } = tables;
  // Voices that an interrupted deletion left must not come back.
  if (isOn && !account.voices) await removeSpeakerVoices(store, account.id);
  const changed = transact(store, (writer) => {
    const before = writer.select({ voices: accounts.voices }).from(accounts).where(eq(accounts.id, account.id)).get();
    if (before === undefined) throw new AccountsError(`the account ${account.name} does not exist any more`);
    if (!isOn) writer.delete(voices).where(eq(voices.accountId, account.id)).run();
    if (before.voices !== isOn) {
      audit(writer, by, isOn ? "voices.enable" : "voices.disable", account.id, { name: account.name });
    }
    return writer.update(accounts).set({ voices: isOn }).where(eq(accounts.id, account.id)).returning().get();
  });
  if (!isOn) await removeSpeakerVoices(store, account.id);
  return changed ?? account;
}

/** Completes the deletions of accounts that switched their voices off, which a crash interrupted. */
export async function removeOptedOut(store: Store): Promise<void> {
  const { accounts, speakerVoices } = tables;
  const isOfAccount = eq(speakerVoices.accountId, accounts.id);
  // From the accounts to their voices, of which there may be millions.
  const left = store
    .select({ accountId: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.voices, false), exists(store.select().from(speakerVoices).where(isOfAccount))))
    .all();
  for (const { accountId } of left) await removeSpeakerVoices(store, accountId);
}

async function removeSpeakerVoices(store: Store, accountId: string): Promise<void> {
  const { speakerVoices } = tables;
  const isOfAccount = eq(speakerVoices.accountId, accountId);
  do await yieldToEventLoop();
  while (transact(store, (writer) => deleteSome(writer, speakerVoices, isOfAccount, ROWS_AT_ONCE)));
  await truncateLog(store);
}
